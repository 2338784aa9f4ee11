-- Which of these outcomes cannot be settled now: late ones, whose claim was reaped or which are settled already; and busy ones, whose claim
-- another session holds at the moment. p_live are the claims that the caller holds.
create or replace function outbox.late_rows(
  p_stream outbox.streams, p_live bigint[], p_outcomes outbox.row_outcome[], out late uuid[], out busy uuid[]
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_open bigint;
begin
  -- The common case, without reading the archive: whole claims, of which nothing has been settled before.
  select sum(c.open) into v_open from outbox.claims c where c.claim_id = any (p_live) having bool_and(c.open = cardinality(c.outbox_ids));
  if v_open = cardinality(p_outcomes) and (select bool_and(o.claim_id = any (p_live)) from unnest(p_outcomes) o) then
    return;
  end if;
  select array_agg(j.outbox_id) filter (where j.late), array_agg(j.outbox_id) filter (where not j.late and j.busy) into late, busy
    from (select o.outbox_id, not coalesce(o.claim_id = any (p_live), false) as busy,
                 not exists (select from outbox.claims c where c.claim_id = o.claim_id)
                   or exists (select from outbox.attempts a
                               where a.outbox_id = o.outbox_id and a.attempt_no = o.attempt_no + 1
                                 and a.class_id = p_stream.class_id) as late
            from unnest(p_outcomes) o) j;
end
$$;
comment on function outbox.late_rows(outbox.streams, bigint[], outbox.row_outcome[])
  is 'Outcomes of unordered rows that come too late to count, and those that must wait. Nullable: late, busy.';
