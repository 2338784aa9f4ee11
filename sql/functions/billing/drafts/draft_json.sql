-- A draft as its page shows it. A draft that became a request shows that request, with the customer's own link, unless that link has since
-- been sent to another address: only a person with the link of the mail gets here with such a draft. The token with which the visitor
-- returns is the draft's id and an HMAC, as in a customer's link. It does not prove the address; the link in the mail does.
create or replace function billing.draft_json(p_workspace_id text, p_kind text, p_id uuid, p_draft billing.drafts) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_story jsonb;
  v_price record;
  v_request capacity.requests;
begin
  v_story := jsonb_build_object(
    'workspace_id', p_workspace_id, 'workspace', (select w.name from directory.workspaces w where w.id = p_workspace_id),
    'kind', p_kind, 'token', translate(encode(uuid_send(p_id) || billing.draft_signature(
      'CONFIRMATION_TOKEN_SECRET', 'draft', p_workspace_id, p_id, p_draft.generation, null), 'base64'), '+/', '-_'),
    'choices', billing.draft_choices(p_workspace_id, coalesce(p_draft.terms, '{}')),
    'revision', coalesce(p_draft.revision, 0), 'step', coalesce(p_draft.step, 1), 'terms', coalesce(p_draft.terms, '{}'),
    'entered', p_draft.entered,
    'expires_at', p_draft.expires_at, 'mails', (select count(*) from billing.draft_mails m where m.draft_id = p_draft.id));
  if p_draft.request_id is not null then
    select r.* into v_request from capacity.requests r where r.id = p_draft.request_id;
    return v_story || jsonb_build_object('request', jsonb_build_object(
      'id', v_request.id, 'state', v_request.state,
      'link', case when exists (select from capacity.confirmation_tokens t
                                 where t.id = v_request.confirmation_token_id and t.revoked_at is null)
                   then capacity.confirmation_token(v_request.confirmation_token_id) end));
  elsif p_draft.step > 2 then
    v_price := billing.draft_offer(p_workspace_id, p_draft.terms);
    v_story := v_story || jsonb_build_object('problem', v_price.problem, 'offer', case when v_price.offer is not null
      then (v_price.offer - '{price_id,monthly_usd}'::text[])
           || jsonb_build_object('digits', billing.currency_digits(v_price.offer ->> 'currency')) end);
    if v_price.offer is not null then
      v_story := v_story || jsonb_build_object('routing', billing.draft_routing(p_workspace_id, p_draft.terms, v_price.offer));
    end if;
  end if;
  return v_story;
end
$$;
comment on function billing.draft_json(text, text, uuid, billing.drafts) is 'A draft as its page shows it. Nullable: p_draft.';
