-- Turns a refusal of the workflow into what Slack shows: a text for a typed command, a note for a click, an error at the field
-- of a form. The facts of the refusal are shown where they help, and never where they reveal the setup.
create or replace function inbound.slack_refused(
  p_receipt jsonb, p_request_id text, p_message text, p_detail text, p_hint text
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_code text := substring(p_detail from '^[a-z_]+');
  v_facts text := substring(p_detail from '^[a-z_]+: (.*)$');
  v_field text := inbound.refused_field(p_receipt ->> 'what', v_facts);
  v_text text := concat_ws(' ', p_message,
    case when v_code in ('invalid_input', 'invalid_payload', 'nobody_can_approve') then '(' || regexp_replace(v_facts, '^[a-z_]+: ', '')
      || ')' end, p_hint);
  v_reply jsonb := jsonb_build_object('outcome', 'refused', 'refusal', left(concat_ws(': ', v_code, p_message), 500),
                                      'request', p_request_id);
begin
  if p_receipt ->> 'kind' = 'command' then
    return v_reply || (inbound.slack_reply(notify.slack_text(v_text, 3000), 'refused') - 'outcome');
  elsif p_receipt ->> 'kind' = 'submission' then
    return v_reply || jsonb_build_object('field', v_field, 'answer', jsonb_build_object(
      'response_action', 'errors', 'errors', jsonb_build_object(v_field, notify.render_text(v_text, 500))));
  end if;
  perform inbound.slack_note(p_receipt, v_text);
  return v_reply || '{"answer": {}}';
end
$$;
comment on function inbound.slack_refused(jsonb, text, text, text, text)
  is 'The reply to a receipt that the workflow refused. Nullable: p_request_id, p_hint.';
