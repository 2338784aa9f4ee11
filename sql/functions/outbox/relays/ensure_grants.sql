-- Sets which streams may use each guarded rail: {"slack": ["capacity", "people"]}. For the migrator's registrations, the first of which
-- removes the grants of the last migration. p_leftovers: streams that may no longer name the rail, and finish what our functions wrote
-- there. Grants that operators made stay.
create or replace function outbox.ensure_grants(p_grants jsonb, p_leftovers jsonb default '{}') returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  insert into outbox.stream_rails (stream_id, rail_id, leftover, registered)
  select s.stream_id, r.rail_id, w.leftover, true
    from (values (p_grants, false), (p_leftovers, true)) w(grants, leftover)
   cross join lateral jsonb_each(w.grants) g
   cross join lateral jsonb_array_elements_text(g.value) n(stream)
    join outbox.rails r on r.name = g.key
    join outbox.streams s on s.name = n.stream
  on conflict do nothing;
$$;
comment on function outbox.ensure_grants(jsonb, jsonb) is 'Grants guarded rails to streams.';
