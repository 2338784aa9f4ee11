-- Records that a row passes each of these gates, which the caller holds: the next slot moves one gap later, and the row is the probe where
-- the circuit was open.
create or replace function outbox.book_slots(p_names text[], p_lease_seconds integer) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  insert into outbox.gates as g (name, next_slot_at, failures, times_opened, open_until, probe_until, last_error_code, clears, changed_at)
  select s.name, case when s.min_interval_ms > 0 then now() + s.min_interval_ms * interval '1 ms' else s.next_slot_at end,
         s.failures, s.times_opened, s.open_until,
         case when s.failures >= s.failure_threshold then now() + p_lease_seconds * interval '1 s' else s.probe_until end,
         s.last_error_code, coalesce((select l.clears from outbox.limits l where l.name = s.name), 0), clock_timestamp()
    from outbox.gates_of(p_names) s
   where s.min_interval_ms > 0 or s.failures >= s.failure_threshold
  on conflict (name) do update
     set next_slot_at = excluded.next_slot_at, failures = excluded.failures, times_opened = excluded.times_opened,
         open_until = excluded.open_until, probe_until = excluded.probe_until, last_error_code = excluded.last_error_code,
         clears = excluded.clears, changed_at = excluded.changed_at;
$$;
comment on function outbox.book_slots(text[], integer) is 'Moves the next slot of gates on, and marks probes.';
