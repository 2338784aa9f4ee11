-- A submitted form: a new request, the reason for a decision, a note, or the customer's address. An error is shown at the
-- field that caused it.
create or replace function inbound.slack_submission(
  p_receipt jsonb, p_home directory.workspaces, p_member directory.members
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_values jsonb := p_receipt -> 'values';
  v_metadata jsonb := inbound.form_metadata(p_receipt);
  v_terms jsonb;
  v_submitted record;
  v_context capacity.context;
  v_request capacity.requests;
  v_reason text := nullif(btrim(inbound.form_value(v_values, 'reason'), E' \t\r\n'), '');
  v_decided record;
  v_unasked text;
begin
  if p_receipt ->> 'what' = 'capacity_reason' and starts_with(v_metadata ->> 'action', 'job_') then
    return inbound.slack_job_form(p_receipt, p_member, v_metadata, v_reason);
  elsif p_receipt ->> 'what' = 'capacity_reason' then
    if v_reason is null and v_metadata ->> 'action' <> 'customer_decline' then
      perform headroom.fail('invalid_payload', 'A rejection or a cancellation needs a reason.', null,
                            'Write it here. Nothing was changed.');
    end if;
    v_decided := inbound.decide(p_member, v_metadata ->> 'request', (inbound.action_event(v_metadata ->> 'action')).event_type, v_reason,
                                true);
    if v_decided.repeated then
      perform headroom.fail('conflict', v_decided.said);
    end if;
    return jsonb_build_object('outcome', 'done', 'request', v_metadata ->> 'request', 'answer', '{"response_action": "clear"}'::jsonb);
  end if;

  if p_receipt ->> 'what' in ('capacity_note', 'capacity_link') then
    return inbound.slack_follow_up_form(p_receipt, p_member, v_metadata ->> 'request');
  end if;
  v_terms := inbound.check_typed_terms((
    select coalesce(jsonb_object_agg(f.name, f.value) filter (where f.value is not null), '{}')
      from (select n.name, inbound.form_value(v_values, n.name) as value
              from jsonb_object_keys(inbound.term_names() || '{"email": "customer_ref"}') n(name)) f));
  if v_terms -> 'wrong' <> '{}' then
    return jsonb_build_object(
      'outcome', 'refused', 'answer', jsonb_build_object('response_action', 'errors', 'errors', v_terms -> 'wrong'));
  end if;
  v_submitted := inbound.submit_terms(p_receipt, p_home, p_member, v_terms -> 'fields', v_metadata ->> 'channel');
  v_context := v_submitted.context;
  v_request := v_context.request;
  -- The values prefilled in the form are erased with the request's customer.
  update inbound.receipts d set request_id = v_request.id
   where d.provider = 'slack' and d.receipt_id = v_metadata ->> 'opened_by' and d.request_id is null
     and d.workspace_id = p_member.workspace_id and d.member_id = p_member.id;
  v_unasked := inbound.slack_unasked(v_context);
  if v_metadata ->> 'channel' ~ '^[A-Z0-9]{2,32}$' or v_unasked is not null then
    -- Answers where the form was opened, since the request may live in another channel; a form without a channel is answered to the
    -- person.
    perform inbound.slack_note(inbound.form_channel(p_receipt),
      concat_ws(' ', format('%s is %s.', v_request.id, capacity.story_state(v_request.state::text)), v_unasked));
  end if;
  return jsonb_build_object('outcome', 'done', 'request', v_request.id, 'answer', '{"response_action": "clear"}'::jsonb);
end
$$;
comment on function inbound.slack_submission(jsonb, directory.workspaces, directory.members)
  is 'Carries out what a form asks for and replies.';
