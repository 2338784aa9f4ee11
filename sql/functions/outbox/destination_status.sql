-- Destinations as people see them: is the circuit closed, open, or letting one probe through; when is the next slot; and whether it is an
-- endpoint that is disabled. An endpoint has its name beside it, with its workspace in front where it belongs to one.
create or replace function outbox.destination_status()
returns table (destination text, endpoint text, circuit text, failures integer, open_until timestamptz, min_interval_ms integer, next_slot_at timestamptz, last_error_code text,
               disabled_code text, disabled_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select g.name, case when e.id is not null then concat_ws('/', e.workspace_id, e.name) end,
         case when g.open_until > now() then 'open' when g.failures >= g.failure_threshold then 'half-open' else 'closed' end,
         g.failures, case when g.open_until > now() then g.open_until end, g.min_interval_ms,
         case when g.next_slot_at > now() then g.next_slot_at end, g.last_error_code, e.disabled_code, e.disabled_at
    from outbox.gates_of(array(select d.name from outbox.destinations d
                               union
                               select l.name from outbox.limits l where l.name <> '*' and not l.name like '%:')) g
    left join outbox.endpoints e on g.name = 'endpoint:' || e.id
   order by 1;
$$;
comment on function outbox.destination_status()
  is 'Circuit and next slot of each destination. Nullable: endpoint, open_until, next_slot_at, last_error_code, disabled_code, disabled_at.';
