-- Who was told that a review waits for them, and not that it no longer does, by step. What they were told is the record: the directory may
-- have changed since, but whoever left it is told nothing. Whoever endorsed has done their part.
--
-- First all that was told of the request, and nothing else decides how that is found: a plan that was made while there was little to read
-- is kept, and one by category, or for each member, would read more with every request that there ever was.
create or replace function capacity.still_asked(p_request capacity.requests, p_steps text[], p_but text[])
returns table (member_id text, step text)
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  with told as materialized (
    select n.recipient_kind, n.recipient, n.category, n.created_at, split_part(n.idempotency_key, '/', 2) as said,
           split_part(n.idempotency_key, ':', 2) as step
      from notify.notifications n where n.about = p_request.id)
  select t.recipient, t.step
    from told t
   where t.recipient_kind = 'member' and t.category = 'reviews' and t.said in ('asked:' || t.step, 'no_longer_asked:' || t.step)
     and t.step = any (p_steps) and t.recipient <> all (array_remove(p_but || p_request.commercial_endorsed_by, null))
     and (select m.active from directory.members m where m.workspace_id = p_request.workspace_id and m.id = t.recipient)
   group by t.recipient, t.step
  having (array_agg(t.said order by t.created_at desc))[1] = 'asked:' || t.step
   order by t.recipient, t.step;
end
$$;
comment on function capacity.still_asked(capacity.requests, text[], text[])
  is 'Who was told that they are asked, and nothing since.';
