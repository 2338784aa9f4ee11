-- Which of these outcomes cannot be settled now: late ones, whose claim was reaped, whose lane has moved on, or which are settled already;
-- and busy ones, whose claim or lane another session holds at the moment. p_live are the claims that the caller holds; the lanes that it
-- holds are found by taking them again.
create or replace function outbox.late_in_lanes(
  p_live bigint[], p_outcomes outbox.row_outcome[], out late uuid[], out busy uuid[]
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_held bigint[];
begin
  select array_agg(h.lane_id) into v_held
    from (select h.lane_id from outbox.heads h
           where h.lane_id = any (array(select o.lane_id from unnest(p_outcomes) o)) and h.claim_id = any (p_live)
             for update skip locked) h;
  select array_agg(j.outbox_id) filter (where j.late), array_agg(j.outbox_id) filter (where not j.late and j.busy) into late, busy
    from (select o.outbox_id,
                 h.lane_id is null or o.seq < h.head_seq
                   or not exists (select from outbox.claims c where c.claim_id = o.claim_id) as late,
                 not coalesce(o.claim_id = any (p_live) and o.lane_id = any (v_held), false) as busy
            from unnest(p_outcomes) o
            left join outbox.heads h on h.lane_id = o.lane_id and h.claim_id = o.claim_id) j;
end
$$;
comment on function outbox.late_in_lanes(bigint[], outbox.row_outcome[])
  is 'Outcomes of ordered rows that come too late to count, and those that must wait. Nullable: late, busy.';
