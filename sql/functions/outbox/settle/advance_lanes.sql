-- Gives lanes back after their leased rows are settled: each continues with its next pending row, or becomes idle. The caller holds the
-- locks on the heads.
--
-- A lane may become idle only while we hold its number allocator, because a producer whose transaction is still open has already decided
-- not to add a head. If that producer holds it, nothing waits: the lane is checked again shortly. With the allocator locked, a query with a
-- fresh snapshot sees every row that will ever come without a new head.
--
-- p_delivered_at says that the row before each given number was delivered, and when: redrive needs the number, and the time answers when
-- people were last told something. p_places are the heads' row versions, where the caller has them.
create or replace function outbox.advance_lanes(
  p_lane_ids bigint[], p_from_seqs bigint[], p_delivered_at timestamptz default null, p_places tid[] default null
) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_places tid[] := p_places;
  v_empty bigint[];
  v_empty_places tid[];
  v_from_seqs bigint[];
  v_delivered bigint[];
  v_delivered_at timestamptz[];
  v_locked bigint[];
  v_idle bigint[];
begin
  if v_places is null then
    select array_agg(h.ctid order by t.ord) into v_places
      from unnest(p_lane_ids) with ordinality t(lane_id, ord) left join outbox.heads h on h.lane_id = t.lane_id;
  end if;
  with next_row as materialized (
    select h.lane_id, t.place, least(t.from_seq, h.rewind_to) as from_seq, n.seq, n.due, n.priority, n.way_id, n.destination_id,
           greatest(h.delivered_to, case when p_delivered_at is not null then t.from_seq - 1 end) as delivered_to,
           greatest(h.delivered_at, p_delivered_at) as delivered_at
      from unnest(p_from_seqs, v_places) t(from_seq, place)
      join outbox.heads h on h.ctid = t.place
      left join lateral (
           select p.seq, p.due, p.priority, p.way_id, coalesce(p.destination_id, 0) as destination_id from outbox.pending p
            where p.lane_id = h.lane_id and p.seq >= least(t.from_seq, h.rewind_to)
            order by p.seq limit 1) n on true
  ), moved as (
    update outbox.heads h
       set head_seq = n.seq, due = greatest(n.due, now()), priority = n.priority, way_id = n.way_id, destination_id = n.destination_id,
           delivered_to = n.delivered_to, delivered_at = n.delivered_at,
           claim_id = null, claimed_to = null, rewind_to = null, run_limit = null, misses = 0, blocked = false
      from next_row n
     where h.ctid = n.place and n.seq is not null
  )
  select array_agg(n.lane_id), array_agg(n.place), array_agg(n.from_seq), array_agg(n.delivered_to), array_agg(n.delivered_at)
    into v_empty, v_empty_places, v_from_seqs, v_delivered, v_delivered_at
    from next_row n where n.seq is null;
  if v_empty is null then
    return;
  end if;

  -- Nearly always every one can be locked and becomes idle, so the sets are compared by size before they are searched.
  select array_agg(l.lane_id) into v_locked
    from (select lane_id from outbox.lanes where lane_id = any (v_empty) for update skip locked) l;
  with idle as (
    update outbox.lanes l
       set idle_at = l.next_seq, delivered_to = greatest(l.delivered_to, e.delivered_to),
           delivered_at = greatest(l.delivered_at, e.delivered_at)
      from unnest(v_empty, v_empty_places, v_from_seqs, v_delivered, v_delivered_at)
           e(lane_id, place, from_seq, delivered_to, delivered_at)
     where l.lane_id = e.lane_id and (cardinality(v_locked) = cardinality(v_empty) or l.lane_id = any (v_locked))
       and not exists (select from outbox.pending p where p.lane_id = e.lane_id and p.seq >= e.from_seq)
    returning l.lane_id, e.place
  ), gone as (
    delete from outbox.heads h using idle i where h.ctid = i.place
  )
  select array_agg(i.lane_id) into v_idle from idle i;
  if v_idle is null or cardinality(v_idle) < cardinality(v_empty) then
    update outbox.heads h
       set head_seq = 0, destination_id = 0, due = now() + least(25 * 2 ^ h.misses, 1000) * interval '1 ms',
           misses = least(h.misses + 1, 10),
           claim_id = null, claimed_to = null, rewind_to = null, run_limit = null, blocked = false, delivered_to = e.delivered_to,
           delivered_at = e.delivered_at
      from unnest(v_empty, v_empty_places, v_delivered, v_delivered_at) e(lane_id, place, delivered_to, delivered_at)
     where h.ctid = e.place and (v_idle is null or e.lane_id <> all (v_idle));
  end if;
end
$$;
comment on function outbox.advance_lanes(bigint[], bigint[], timestamptz, tid[])
  is 'Moves lanes on to their next pending row at or after the given number, or lets them go idle.';
