-- Destinations as people see them: is the circuit closed, open, or letting one probe through; when is the next slot; and whether it is an
-- endpoint that is disabled. An endpoint has its name beside it, with its workspace in front where it belongs to one.
create or replace function outbox.destination_status()
returns table (destination text, endpoint text, circuit text, failures integer, open_until timestamptz, min_interval_ms integer, next_slot_at timestamptz, last_error_code text,
               disabled_code text, disabled_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select d.name, case when e.id is not null then concat_ws('/', e.workspace_id, e.name) end,
         case when d.open_until > now() then 'open' when d.failures >= d.failure_threshold then 'half-open' else 'closed' end,
         d.failures, case when d.open_until > now() then d.open_until end, d.min_interval_ms,
         case when d.next_slot_at > now() then d.next_slot_at end, d.last_error_code, e.disabled_code, e.disabled_at
    from outbox.destinations d left join outbox.endpoints e on d.name = 'endpoint:' || e.id order by 1;
$$;
comment on function outbox.destination_status()
  is 'Circuit and next slot of each destination. Nullable: endpoint, open_until, next_slot_at, last_error_code, disabled_code, disabled_at.';
