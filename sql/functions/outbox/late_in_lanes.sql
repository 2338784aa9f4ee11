-- Which of these results come too late: their claim was reaped, their lane went on, or they are settled already. Locks
-- the heads of the others until the settle is through, so that a redrive waits and is honoured; in the order in which
-- a redrive of several lanes locks them.
create or replace function outbox.late_in_lanes(
  p_live bigint[], p_claim_ids bigint[], p_lane_ids bigint[], p_seqs bigint[], p_outbox_ids uuid[]
) returns uuid[]
language plpgsql volatile set search_path = ''
as $$
declare
  v_lanes bigint[];
  v_head_seqs bigint[];
  v_rows bigint;
  v_repeated boolean;
  v_late uuid[];
begin
  select array_agg(l.lane_id), array_agg(l.head_seq), sum(l.n), bool_or(l.from_seq < l.head_seq)
    into v_lanes, v_head_seqs, v_rows, v_repeated
    from (select h.lane_id, h.head_seq, g.n, g.from_seq
            from (select g.lane_id, g.claim_id, count(*) as n, min(g.seq) as from_seq
                    from unnest(p_claim_ids, p_lane_ids, p_seqs) g(claim_id, lane_id, seq) group by g.lane_id, g.claim_id) g
            join outbox.heads h on h.lane_id = g.lane_id and h.claim_id = g.claim_id
           where g.claim_id = any (p_live)
           order by h.lane_id
             for update of h) l;
  if v_rows = cardinality(p_outbox_ids) and not v_repeated then
    return null;
  end if;
  select array_agg(g.outbox_id) into v_late
    from unnest(p_claim_ids, p_lane_ids, p_seqs, p_outbox_ids) g(claim_id, lane_id, seq, outbox_id)
    left join outbox.heads h on h.lane_id = g.lane_id and h.claim_id = g.claim_id and h.lane_id = any (v_lanes)
   where h.lane_id is null or g.seq < h.head_seq;
  return v_late;
end
$$;
comment on function outbox.late_in_lanes(bigint[], bigint[], bigint[], bigint[], uuid[]) is 'Results of ordered rows that come too late to count.';
