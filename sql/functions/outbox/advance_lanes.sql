-- Gives lanes back after their leased rows are dealt with: each goes on with its next pending row, or goes idle. The
-- caller holds the locks on the heads.
--
-- A lane may only go idle while its number allocator is ours, because a producer whose transaction is still open has
-- already decided not to add a head. If that producer holds it, nothing waits: the lane is looked at again shortly. With
-- the allocator locked, a look with a fresh snapshot sees every row that will ever come without a new head.
--
-- p_delivered says that the row before each given number was delivered, which is remembered for redrive.
create or replace function outbox.advance_lanes(p_lane_ids bigint[], p_from_seqs bigint[], p_delivered boolean default false) returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_empty bigint[];
  v_delivered bigint[];
  v_locked bigint[];
begin
  with next_row as materialized (
    select h.lane_id, n.seq, n.due, n.priority, greatest(h.delivered_to, case when p_delivered then t.from_seq - 1 end) as delivered_to
      from unnest(p_lane_ids, p_from_seqs) t(lane_id, from_seq)
      join outbox.heads h on h.lane_id = t.lane_id
      left join lateral (
           select p.seq, p.due, p.priority from outbox.pending p
            where p.lane_id = t.lane_id and p.seq >= least(t.from_seq, h.rewind_to)
            order by p.seq limit 1) n on true
  ), moved as (
    update outbox.heads h
       set head_seq = n.seq, due = greatest(n.due, now()), priority = n.priority, delivered_to = n.delivered_to,
           claim_id = null, claimed_to = null, rewind_to = null, run_limit = null, misses = 0, deferred = false, blocked = false
      from next_row n
     where h.lane_id = n.lane_id and n.seq is not null
  )
  select array_agg(n.lane_id), array_agg(n.delivered_to) into v_empty, v_delivered from next_row n where n.seq is null;
  if v_empty is null then
    return;
  end if;

  select array_agg(l.lane_id) into v_locked
    from (select lane_id from outbox.lanes where lane_id = any (v_empty) for update skip locked) l;
  with idle as (
    update outbox.lanes l set idle_at = l.next_seq, delivered_to = greatest(l.delivered_to, e.delivered_to)
      from unnest(v_empty, v_delivered) e(lane_id, delivered_to)
     where l.lane_id = e.lane_id and l.lane_id = any (v_locked) and not exists (select from outbox.pending p where p.lane_id = l.lane_id)
    returning l.lane_id
  ), gone as (
    delete from outbox.heads h using idle i where h.lane_id = i.lane_id
  ), again as (
    select e.lane_id, e.delivered_to from unnest(v_empty, v_delivered) e(lane_id, delivered_to) where e.lane_id not in (select lane_id from idle)
  )
  update outbox.heads h
     set head_seq = 0, due = now() + least(25 * 2 ^ h.misses, 1000) * interval '1 ms', misses = least(h.misses + 1, 10),
         claim_id = null, claimed_to = null, rewind_to = null, run_limit = null, blocked = false, delivered_to = a.delivered_to
    from again a where h.lane_id = a.lane_id;
end
$$;
comment on function outbox.advance_lanes(bigint[], bigint[], boolean) is 'Moves lanes on to their next pending row at or after the given number, or lets them go idle.';
