-- The grant that a waiting row lacks: its rail became guarded after it was written, and no relay sends it. Null when it lacks none.
create or replace function outbox.not_granted(p_row outbox.payloads) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('reason', 'rail_not_granted',
                            'grant', format('select outbox.grant_rail(%L, %L)', s.name, r.name))
    from outbox.streams s, outbox.rails r
   where s.stream_id = p_row.stream_id and r.rail_id = p_row.rail_id
     and r.guarded
     -- The same rule as in outbox.open_ways().
     and not exists (select from outbox.stream_rails g
                      where g.stream_id = s.stream_id and g.rail_id = r.rail_id
                        and (not g.leftover or exists (select from outbox.ways w where w.way_id = p_row.way_id and w.writer = '')));
$$;
comment on function outbox.not_granted(outbox.payloads) is 'The grant that a waiting row lacks. Nullable: result.';
