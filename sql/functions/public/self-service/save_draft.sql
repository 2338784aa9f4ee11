-- Saves one of the first three steps of the wizard. `outcome`: saved; invalid, with the errors of each field; stale, when another
-- window changed the draft in the meantime. Only the answer saved replaces earlier values; invalid input is stored
-- separately, so that a page can show it at its own address, which back and reload lead to. The same step sent twice is saved once,
-- and mails once.
create or replace function public.save_draft(p_workspace_id text, p_token text, p_step integer, p_revision integer, p_values jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_opened record;
  v_draft billing.drafts;
  v_after billing.drafts;
  v_checked record;
  v_outcome text := 'saved';
  v_problem text;
begin
  if p_step is null or p_step not between 1 and 3 or p_revision is null or p_revision < 0
     or jsonb_typeof(p_values) is distinct from 'object' then
    perform headroom.fail('invalid_input', 'This is not a step of the order.', null, 'Open the order again. Nothing was changed.');
  end if;
  perform headroom.check_json(p_values, 'values', 8192, 'invalid_input');
  perform billing.wizard_requester(p_workspace_id);
  v_opened := billing.open_draft(p_workspace_id, p_token, case when p_revision = 0 then p_step else 2 end);
  v_draft := v_opened.draft;
  if v_draft.id is null then
    perform headroom.fail('gone', 'This order was not begun, or it has expired.', null,
                          'Orders that were not sent are kept for a day. Begin with the first step. Nothing was ordered.');
  elsif v_draft.request_id is not null then
    perform headroom.fail('already_used', 'This order was sent already.', v_draft.request_id, 'Nothing was changed.');
  elsif p_step > v_draft.step then
    perform headroom.fail('conflict', format('Step %s comes before this one.', v_draft.step), 'step ' || v_draft.step,
                          format('Fill in step %s first. Nothing was changed.', v_draft.step));
  end if;

  v_checked := billing.check_step(p_workspace_id, p_step, v_draft.terms, p_values);
  if v_checked.problems <> '{}' then
    v_outcome := 'invalid';
  elsif not (v_draft.step > p_step and v_draft.terms @> v_checked.terms) then
    if p_revision <> v_draft.revision then
      v_outcome := 'stale';
    else
      v_problem := billing.keep_step(v_draft, p_step, v_checked.terms);
      if v_problem is not null then
        v_outcome := 'invalid';
        v_checked.problems := jsonb_build_object('email', v_problem);
      end if;
    end if;
  end if;
  update billing.drafts d
     set entered = case v_outcome when 'saved' then null when 'invalid' then jsonb_build_object(
           'step', p_step, 'values', billing.entered_values(v_checked.terms, p_values), 'problems', v_checked.problems) else d.entered end
   where d.id = v_draft.id;
  select d.* into v_after from billing.drafts d where d.id = v_draft.id;
  -- With another address, the link in the earlier mail proves nothing any more.
  return jsonb_build_object('outcome', v_outcome, 'problems', v_checked.problems, 'draft', billing.draft_json(
    p_workspace_id, case when v_after.address_mark = v_draft.address_mark then v_opened.kind else 'draft' end, v_draft.id, v_after));
end
$$;
comment on function public.save_draft(text, text, integer, integer, jsonb) is 'Saves a step of an order in the self-service wizard.';
