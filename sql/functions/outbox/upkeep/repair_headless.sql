-- Gives a head to lanes that have pending rows and no head. Each lane's allocator is locked first, so that a producer with an open
-- transaction is not misread. If a dead row would have blocked the lane, it does so again: the rows behind it must not go out by accident.
create or replace function outbox.repair_headless(p_lane_ids bigint[]) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_lanes bigint[];
begin
  select array_agg(l.lane_id) into v_lanes
    from (select l.lane_id from outbox.lanes l where l.lane_id = any (p_lane_ids) order by l.lane_id for update skip locked) l;
  with repaired as (
    insert into outbox.heads (lane_id, stream_id, way_id, destination_id, priority, due, head_seq, blocked)
    select l.lane_id, l.stream_id, p.way_id, coalesce(p.destination_id, 0), p.priority, p.due, coalesce(b.seq, p.seq), b.seq is not null
      from outbox.lanes l
      join outbox.streams s on s.stream_id = l.stream_id
     cross join lateral (select p.* from outbox.pending p where p.lane_id = l.lane_id order by p.seq limit 1) p
      left join lateral (select d.seq from outbox.dead d
                          where s.on_dead = 'block' and d.lane_id = l.lane_id and d.seq < p.seq order by d.seq limit 1) b on true
     where l.lane_id = any (v_lanes)
    on conflict do nothing
    returning lane_id
  ), woken as (
    update outbox.lanes l set idle_at = -1 from repaired m where l.lane_id = m.lane_id
  )
  select array_agg(m.lane_id) into v_lanes from repaired m;
  return coalesce(cardinality(v_lanes), 0);
end
$$;
comment on function outbox.repair_headless(bigint[])
  is 'Gives a head to lanes that have pending rows and no head; returns how many it repaired.';
