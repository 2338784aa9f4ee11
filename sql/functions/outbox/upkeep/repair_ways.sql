-- Gives a way to rows that have none, which no claim reads. A session that entered an older version of a function during an upgrade
-- continues in it after the upgrade, and writes rows as they were before there were ways. Returns how many lanes and rows.
create or replace function outbox.repair_ways() returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_max constant integer := 1000;
  v_lanes bigint[];
  v_rows uuid[];
begin
  select array_agg(h.lane_id) into v_lanes
    from outbox.streams s
   cross join lateral (select o.lane_id from outbox.heads o
                        where o.stream_id = s.stream_id and o.way_id = 0 and o.claim_id is null and not o.blocked
                        limit v_max for update skip locked) h;
  select array_agg(u.outbox_id) into v_rows
    from outbox.streams s
   cross join lateral (select o.outbox_id from outbox.pending_unordered o
                        where o.stream_id = s.stream_id and o.way_id = 0 limit v_max for update skip locked) u;
  if v_lanes is null and v_rows is null then
    return 0;
  end if;
  -- Tells our own rows from others by the same rule as the migration that made ways.
  update outbox.payloads m
     set way_id = outbox.way_id(m.stream_id, m.rail_id, case when m.tenant_id is null then '?' else '' end)
   where m.way_id = 0
     and (m.outbox_id = any (v_rows) or m.outbox_id in (select p.outbox_id from outbox.pending p where p.lane_id = any (v_lanes)));
  update outbox.pending p set way_id = m.way_id
    from outbox.payloads m where p.lane_id = any (v_lanes) and p.way_id = 0 and m.outbox_id = p.outbox_id;
  update outbox.heads h set way_id = n.way_id
    from (select l.lane_id, p.way_id
            from unnest(v_lanes) l(lane_id)
            join outbox.heads o on o.lane_id = l.lane_id
           cross join lateral (select p.way_id from outbox.pending p where p.lane_id = l.lane_id and p.seq >= o.head_seq
                                order by p.seq limit 1) p) n
   where h.lane_id = n.lane_id;
  update outbox.pending_unordered u set way_id = m.way_id
    from outbox.payloads m where u.outbox_id = any (v_rows) and m.outbox_id = u.outbox_id;
  return coalesce(cardinality(v_lanes), 0) + coalesce(cardinality(v_rows), 0);
end
$$;
comment on function outbox.repair_ways() is 'Gives a way to rows that an older version wrote during an upgrade; how many lanes and rows.';
