-- Makes lanes start from rows that were put back before their head. The caller holds allocators and heads.
--
-- An idle lane gets a head. A lane in flight is marked, and the settle or the reap that ends the flight honours the mark. A lane that is
-- blocked by a row that is still dead stays blocked: what was put back waits with the rest. As after any failure, the first run is one row
-- long.
create or replace function outbox.rewind_lanes(p_lane_ids bigint[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  with first_row as materialized (
    select l.lane_id, l.stream_id, p.seq, p.due, p.priority, p.way_id, coalesce(p.destination_id, 0) as destination_id
      from outbox.lanes l
     cross join lateral (select p.* from outbox.pending p where p.lane_id = l.lane_id order by p.seq limit 1) p
     where l.lane_id = any (p_lane_ids)
  ), marked as (
    update outbox.heads h set rewind_to = least(h.rewind_to, back.seq)
      from (select f.lane_id, min(p.seq) as seq
              from first_row f
              join outbox.heads h on h.lane_id = f.lane_id and h.claim_id is not null
              join outbox.pending p on p.lane_id = f.lane_id and p.seq <= h.claimed_to
              join outbox.streams s on s.stream_id = f.stream_id
             where not exists (select from outbox.attempts a
                                where a.outbox_id = p.outbox_id and a.attempt_no = p.lines + 1 and a.class_id = s.class_id)
             group by f.lane_id) back
     where h.lane_id = back.lane_id
  ), moved as (
    update outbox.heads h
       set head_seq = f.seq, due = greatest(f.due, now()), priority = f.priority, way_id = f.way_id, destination_id = f.destination_id,
           run_limit = 1, misses = 0, blocked = false
      from first_row f
     where h.lane_id = f.lane_id and h.claim_id is null
       and case when h.blocked then not exists (select from outbox.dead d where d.lane_id = h.lane_id and d.seq = h.head_seq)
                else f.seq < h.head_seq or h.head_seq = 0 end
  ), woken as (
    insert into outbox.heads (lane_id, stream_id, way_id, destination_id, priority, due, head_seq, run_limit)
    select f.lane_id, f.stream_id, f.way_id, f.destination_id, f.priority, greatest(f.due, now()), f.seq, 1
      from first_row f where not exists (select from outbox.heads h where h.lane_id = f.lane_id)
    returning lane_id
  )
  update outbox.lanes l set idle_at = -1 from woken w where l.lane_id = w.lane_id;
end
$$;
comment on function outbox.rewind_lanes(bigint[]) is 'Makes lanes start from the first of their pending rows.';
