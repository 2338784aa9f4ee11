-- The form that asks why. What is decided, about which request and where the button was goes along in the form's own metadata, since
-- its submission may carry no channel. Pure.
create or replace function inbound.render_reason(p_request_id text, p_action text, p_channel text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_words jsonb := ('{
    "commercial_reject": ["Reject", "Why is it rejected in the commercial review?"],
    "tech_reject": ["Reject", "Why is it rejected in the technical review?"],
    "customer_decline": ["Record refusal", "Why does the customer decline?"],
    "job_retry": ["Try again", "Why is it worth another attempt?"],
    "job_complete": ["Record as running", "How is the capacity there already?"],
    "job_fail": ["Give up", "Why does it fail for good?"]}'::jsonb) -> p_action;
begin
  return jsonb_build_object(
    'type', 'modal', 'callback_id', 'capacity_reason',
    'title', jsonb_build_object('type', 'plain_text', 'text', notify.render_text(p_request_id, 24)),
    'submit', jsonb_build_object('type', 'plain_text', 'text', coalesce(v_words ->> 0, 'Cancel request')),
    'close', '{"type": "plain_text", "text": "Back"}'::jsonb,
    'private_metadata', jsonb_strip_nulls(jsonb_build_object(
      'request', left(p_request_id, 40), 'action', left(p_action, 40), 'channel', left(p_channel, 32)))::text,
    'blocks', jsonb_build_array(jsonb_build_object(
      'type', 'input', 'block_id', 'reason', 'optional', p_action = 'customer_decline',
      'label', jsonb_build_object('type', 'plain_text', 'text', coalesce(v_words ->> 1, 'Why is the request cancelled?')),
      'hint', '{"type": "plain_text", "text": "The requester reads it, and it stays in the log. Do not name the customer in it."}'::jsonb,
      'element', '{"type": "plain_text_input", "action_id": "value", "multiline": true, "min_length": 1, "max_length": 2000}'::jsonb)));
end
$$;
comment on function inbound.render_reason(text, text, text) is 'The view of the form that asks for a reason.';
