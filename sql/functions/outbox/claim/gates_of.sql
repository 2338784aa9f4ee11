-- The state of destinations: the limits that operators set, by name or kind, and what relays have found out since. Gates are looked up one
-- by one, because most of the many gates are not asked for.
create or replace function outbox.gates_of(p_names text[])
returns table (
  name text, min_interval_ms integer, failure_threshold integer, open_base_ms integer, next_slot_at timestamptz, failures integer,
  times_opened integer, open_until timestamptz, probe_until timestamptz, last_error_code text
)
language sql stable set search_path = pg_catalog, pg_temp set enable_hashjoin = off
as $$
  select n.name, coalesce(l.min_interval_ms, k.min_interval_ms, a.min_interval_ms, 0),
         coalesce(l.failure_threshold, k.failure_threshold, a.failure_threshold, 5),
         coalesce(l.open_base_ms, k.open_base_ms, a.open_base_ms, 15000), coalesce(g.next_slot_at, '-infinity'), coalesce(g.failures, 0),
         coalesce(g.times_opened, 0), g.open_until, g.probe_until, g.last_error_code
    from unnest(p_names) n(name)
    left join outbox.limits l on l.name = n.name
    left join outbox.limits k on k.name = split_part(n.name, ':', 1) || ':'
    left join outbox.limits a on a.name = '*'
    left join outbox.gates g on g.name = n.name and g.clears = coalesce(l.clears, 0);
$$;
comment on function outbox.gates_of(text[]) is 'Limits and state of destinations. Nullable: open_until, probe_until, last_error_code.';
