-- Which of these results cannot be settled now: late ones, whose claim was reaped, whose lane went on, or which are settled already; and busy
-- ones, whose claim or lane somebody else holds at this moment. p_live are the claims that the caller holds; the lanes that it holds are found by
-- taking them again.
create or replace function outbox.late_in_lanes(
  p_live bigint[], p_claim_ids bigint[], p_lane_ids bigint[], p_seqs bigint[], p_outbox_ids uuid[], out late uuid[], out busy uuid[]
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_held bigint[];
begin
  select array_agg(h.lane_id) into v_held
    from (select h.lane_id from outbox.heads h where h.lane_id = any (p_lane_ids) and h.claim_id = any (p_live) for update skip locked) h;
  select array_agg(j.outbox_id) filter (where j.late), array_agg(j.outbox_id) filter (where not j.late and j.busy) into late, busy
    from (select g.outbox_id, h.lane_id is null or g.seq < h.head_seq or not exists (select from outbox.claims c where c.claim_id = g.claim_id) as late,
                 not coalesce(g.claim_id = any (p_live) and g.lane_id = any (v_held), false) as busy
            from unnest(p_claim_ids, p_lane_ids, p_seqs, p_outbox_ids) g(claim_id, lane_id, seq, outbox_id)
            left join outbox.heads h on h.lane_id = g.lane_id and h.claim_id = g.claim_id) j;
end
$$;
comment on function outbox.late_in_lanes(bigint[], bigint[], bigint[], bigint[], uuid[])
  is 'Results of ordered rows that come too late to count, and those that must wait. Nullable: late, busy.';
