-- The order. The link in the mail proves the address; the draft becomes a request, and a checkout too if a rule approves it immediately,
-- all in one transaction. Sent again, even from two windows, it is the same request and the same checkout.
create or replace function public.submit_draft(p_workspace_id text, p_token text, p_revision integer, p_seen text) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_requester text := billing.wizard_requester(p_workspace_id);
  v_found record;
  v_draft billing.drafts;
  v_request capacity.requests;
  v_link text;
begin
  v_found := billing.open_draft(p_workspace_id, p_token, 4);
  if v_found.kind <> 'proof' then
    perform headroom.fail('not_allowed', 'The order is sent with the link in the mail.', null,
                          'Open the link that we mailed to you. Nothing was ordered.');
  end if;
  v_draft := v_found.draft;
  if v_draft.request_id is not null then
    select r.* into v_request from capacity.requests r where r.id = v_draft.request_id;
  elsif v_draft.step < 4 then
    perform headroom.fail('conflict', format('Step %s comes before this one.', v_draft.step), 'step ' || v_draft.step,
                          format('Fill in step %s first. Nothing was ordered.', v_draft.step));
  elsif p_revision is distinct from v_draft.revision then
    perform headroom.fail('stale_version', 'The order was changed since you looked at it.', null,
                          'Look at it again, and order if you agree. Nothing was ordered.');
  else
    v_request := billing.order_draft(v_draft, v_requester, p_seen);
  end if;
  v_found := billing.find_draft(p_workspace_id, p_token);
  v_link := billing.draft_json(p_workspace_id, v_found.kind, v_found.id, v_found.draft) #>> '{request,link}';
  return jsonb_build_object('request_id', v_request.id, 'state', v_request.state, 'link', v_link,
    'checkout', case when v_link is not null and v_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED'
                     then public.begin_checkout(v_link, 'wizard') end);
end
$$;
comment on function public.submit_draft(text, text, integer, text)
  is 'Orders what a draft describes, and begins its payment if it is approved immediately. Nullable: p_seen.';
