-- Destinations as people see them; for endpoints also the name, prefixed with its tenant if it has one, and whether it is disabled.
create or replace function webhooks.destination_status()
returns table (destination text, endpoint text, circuit text, failures integer, open_until timestamptz, min_interval_ms integer,
               next_slot_at timestamptz, last_error_code text, disabled_code text, disabled_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select d.destination, case when e.id is not null then concat_ws('/', e.tenant_id, e.name) end, d.circuit, d.failures, d.open_until,
         d.min_interval_ms, d.next_slot_at, d.last_error_code, e.disabled_code, e.disabled_at
    from outbox.destination_status() d
    left join webhooks.endpoints e on d.destination = 'endpoint:' || e.id
   order by 1;
$$;
comment on function webhooks.destination_status()
  is 'Circuit and next slot of destinations. Nullable: endpoint, open_until, next_slot_at, last_error_code, disabled_code, disabled_at.';
