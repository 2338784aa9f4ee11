-- Which of these results come too late: their claim was reaped, or they are settled already.
create or replace function outbox.late_rows(p_stream outbox.streams, p_live bigint[], p_claim_ids bigint[], p_outbox_ids uuid[], p_attempt_nos integer[])
returns uuid[]
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_open bigint;
  v_late uuid[];
begin
  -- The common case, without a look into the archive: whole claims, of which nothing has been settled before.
  select sum(c.open) into v_open from outbox.claims c where c.claim_id = any (p_live) having bool_and(c.open = cardinality(c.outbox_ids));
  if v_open = cardinality(p_outbox_ids) and (select bool_and(u = any (p_live)) from unnest(p_claim_ids) u) then
    return null;
  end if;
  select array_agg(g.outbox_id) into v_late
    from unnest(p_claim_ids, p_outbox_ids, p_attempt_nos) g(claim_id, outbox_id, attempt_no)
   where p_live is null or g.claim_id <> all (p_live)
      or exists (select from outbox.attempts a
                  where a.outbox_id = g.outbox_id and a.attempt_no = g.attempt_no + 1 and a.class_id = p_stream.class_id);
  return v_late;
end
$$;
comment on function outbox.late_rows(outbox.streams, bigint[], bigint[], uuid[], integer[]) is 'Results of unordered rows that come too late to count.';
