-- Destinations as people see them: whether the circuit is closed, open, or letting one trial call through, and when the next slot is. Kinds
-- ("slack:") and "*" are listed with the limits of destinations that have none of their own.
create or replace function outbox.destination_status()
returns table (destination text, circuit text, failures integer, open_until timestamptz, min_interval_ms integer, next_slot_at timestamptz,
               last_error_code text)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select g.name, case when g.open_until > now() then 'open' when g.failures >= g.failure_threshold then 'half-open' else 'closed' end,
         g.failures, case when g.open_until > now() then g.open_until end, g.min_interval_ms,
         case when g.next_slot_at > now() then g.next_slot_at end, g.last_error_code
    from outbox.gates_of(array(select d.name from outbox.destinations d
                               union
                               select l.name from outbox.limits l)) g
   order by 1;
$$;
comment on function outbox.destination_status()
  is 'Circuit and next slot of each destination. Nullable: open_until, next_slot_at, last_error_code.';
