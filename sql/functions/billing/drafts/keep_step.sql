-- Saves a step. A new address gets the link; if the link cannot be sent, the reason is returned, in words, and nothing is saved. A later
-- step that an earlier one has made impossible is asked for again. A visitor who has proven one address and names another continues with
-- tokens and links of a new generation: those who could read the draft before cannot read what is filled in from now on, and the earlier
-- address proves nothing any more.
create or replace function billing.keep_step(p_draft billing.drafts, p_step integer, p_terms jsonb) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_draft billing.drafts := p_draft;
  v_problem text;
begin
  v_draft.terms := v_draft.terms || p_terms;
  v_draft.step := greatest(v_draft.step, p_step + 1);
  if p_step = 1 and v_draft.step > 2
     and (billing.check_time(v_draft.workspace_id, v_draft.terms, v_draft.terms)).problems <> '{}' then
    v_draft.step := 2;
  elsif p_step = 2 and v_draft.step = 3 and v_draft.terms ? 'email' then
    v_draft.step := 4;
  elsif p_step = 3 then
    v_draft.address_mark := (capacity.marks_of(v_draft.workspace_id, null, v_draft.terms ->> 'email')).by_address;
    if v_draft.address_mark is distinct from p_draft.address_mark then
      if v_draft.proven_at is not null then
        v_draft.generation := v_draft.generation + 1;
        v_draft.proven_at := null;
      end if;
      v_problem := billing.mail_draft(v_draft);
    end if;
  end if;
  if v_problem is null then
    update billing.drafts d
       set terms = v_draft.terms, step = v_draft.step, address_mark = v_draft.address_mark, generation = v_draft.generation,
           proven_at = v_draft.proven_at, revision = d.revision + 1, updated_at = clock_timestamp()
     where d.id = v_draft.id;
  end if;
  return v_problem;
end
$$;
comment on function billing.keep_step(billing.drafts, integer, jsonb) is 'Saves a step of a draft, or says why not. Nullable: result.';
