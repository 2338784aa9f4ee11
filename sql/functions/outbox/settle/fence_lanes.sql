-- The lanes that these outcomes may still move: their claim exists and their head is under it. Locks those heads until the settle has
-- ended, so that a redrive is honoured. Null when any of the outcomes comes too late, has been settled before, or belongs to a lane
-- that another session holds; then late_in_lanes says which.
create or replace function outbox.fence_lanes(p_live bigint[], p_outcomes outbox.row_outcome[])
returns outbox.fenced_lane[]
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_lanes outbox.fenced_lane[];
  v_rows bigint;
  v_repeated boolean;
begin
  select array_agg(row(l.lane_id, l.place, l.claim_id, l.head_seq, l.claimed_to, l.rewind_to, l.to_seq, l.delivered,
                       l.delivered = l.n)::outbox.fenced_lane),
         sum(l.n), bool_or(l.from_seq < l.head_seq)
    into v_lanes, v_rows, v_repeated
    from (select h.lane_id, h.ctid as place, h.claim_id, h.head_seq, h.claimed_to, h.rewind_to, g.from_seq, g.to_seq, g.delivered, g.n
            from (select o.lane_id, o.claim_id, count(*) as n, min(o.seq) as from_seq,
                         count(*) filter (where o.kind is null or o.kind = 'delivered') as delivered,
                         max(o.seq) filter (where o.kind is null or o.kind = 'delivered') as to_seq
                    from unnest(p_outcomes) o group by o.lane_id, o.claim_id) g
            join outbox.heads h on h.lane_id = g.lane_id and h.claim_id = g.claim_id
           where g.claim_id = any (p_live)
           order by h.lane_id
             for update of h skip locked) l;
  return case when v_rows = cardinality(p_outcomes) and not v_repeated then v_lanes end;
end
$$;
comment on function outbox.fence_lanes(bigint[], outbox.row_outcome[])
  is 'Locks the lanes that outcomes belong to, if none of them is late. Nullable: result.';
