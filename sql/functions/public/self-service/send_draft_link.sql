-- Mails the link to the last step again, to the address in the draft.
create or replace function public.send_draft_link(p_workspace_id text, p_token text) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_opened record;
  v_draft billing.drafts;
  v_problem text;
begin
  perform billing.wizard_requester(p_workspace_id);
  v_opened := billing.open_draft(p_workspace_id, p_token, 2);
  v_draft := v_opened.draft;
  if v_draft.address_mark is null or v_draft.request_id is not null then
    perform headroom.fail('conflict', 'There is no link to send.', null, 'Fill in the first three steps. Nothing was changed.');
  end if;
  v_problem := billing.mail_draft(v_draft);
  if v_problem is not null then
    perform headroom.fail('too_soon', v_problem, null, 'Nothing was sent.');
  end if;
  return billing.draft_json(p_workspace_id, v_opened.kind, v_draft.id, v_draft);
end
$$;
comment on function public.send_draft_link(text, text) is 'Mails the link to the last step of an order again.';
