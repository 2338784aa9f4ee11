-- Who was told that a review waits for them, and not that it no longer does, by step. What they were told is the record: the directory may
-- have changed since, but whoever left it is told nothing. Whoever endorsed has done their part.
create or replace function capacity.still_asked(p_request capacity.requests, p_steps text[], p_but text[])
returns table (member_id text, step text)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select t.recipient, t.step
    from (select n.recipient, n.created_at, n.cause, split_part(n.idempotency_key, '/', 2) as told,
                 split_part(n.idempotency_key, ':', 2) as step
            from notify.notifications n
           where n.about = p_request.id and n.recipient_kind = 'member' and n.category = 'reviews') t
   where t.told in ('asked:' || t.step, 'no_longer_asked:' || t.step) and t.step = any (p_steps)
     and t.recipient <> all (array_remove(p_but || p_request.commercial_endorsed_by, null))
     and exists (select from directory.members m where m.workspace_id = p_request.workspace_id and m.id = t.recipient and m.active)
   group by t.recipient, t.step
  having (array_agg(t.told order by t.created_at desc))[1] = 'asked:' || t.step
   order by t.recipient, t.step;
end
$$;
comment on function capacity.still_asked(capacity.requests, text[], text[])
  is 'Who was told that they are asked, and nothing since.';
