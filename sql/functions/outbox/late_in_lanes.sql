-- Which of these results come too late: their claim was reaped, their lane went on, or they are settled already.
create or replace function outbox.late_in_lanes(
  p_live bigint[], p_claim_ids bigint[], p_lane_ids bigint[], p_seqs bigint[], p_outbox_ids uuid[]
) returns uuid[]
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select array_agg(g.outbox_id)
      from unnest(p_claim_ids, p_lane_ids, p_seqs, p_outbox_ids) g(claim_id, lane_id, seq, outbox_id)
      left join outbox.heads h on h.lane_id = g.lane_id and h.claim_id = g.claim_id and g.claim_id = any (p_live)
     where h.lane_id is null or g.seq < h.head_seq);
end
$$;
comment on function outbox.late_in_lanes(bigint[], bigint[], bigint[], bigint[], uuid[]) is 'Results of ordered rows that come too late to count. Nullable: result.';
