-- Lets lanes continue that are blocked by a dead row that does not exist: no operator could ever find what they wait for.
create or replace function outbox.repair_unblocked(p_lane_ids bigint[]) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_lanes bigint[];
begin
  select array_agg(h.lane_id) into v_lanes
    from (select h.lane_id from outbox.heads h where h.lane_id = any (p_lane_ids) order by h.lane_id for update skip locked) h;
  -- A fresh snapshot, now that nobody can change it.
  select array_agg(h.lane_id) into v_lanes
    from outbox.heads h
   where h.lane_id = any (v_lanes) and h.blocked
     and not exists (select from outbox.dead d where d.lane_id = h.lane_id and d.seq = h.head_seq);
  if v_lanes is null then
    return 0;
  end if;
  perform outbox.release_lanes(v_lanes);
  return cardinality(v_lanes);
end
$$;
comment on function outbox.repair_unblocked(bigint[])
  is 'Lets lanes continue that wait for a dead row that does not exist; returns how many it repaired.';
