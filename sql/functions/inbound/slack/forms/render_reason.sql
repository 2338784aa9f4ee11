-- The form that asks why. Pure.
create or replace function inbound.render_reason(p_request_id text, p_action text, p_channel text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_words jsonb := coalesce('{
    "commercial_reject": ["Reject", "Why is it rejected in the commercial review?"],
    "tech_reject": ["Reject", "Why is it rejected in the technical review?"],
    "customer_decline": ["Record refusal", "Why does the customer decline?"],
    "job_retry": ["Try again", "Why is it worth another attempt?"],
    "job_complete": ["Record as running", "How is the capacity there already?"],
    "job_fail": ["Give up", "Why does it fail permanently?"]}'::jsonb -> p_action, '["Cancel request", "Why is the request cancelled?"]');
begin
  return inbound.render_modal(
    'capacity_reason', p_request_id, v_words ->> 0, 'Back',
    jsonb_build_object('request', left(p_request_id, 40), 'action', left(p_action, 40), 'channel', left(p_channel, 32)),
    inbound.render_input('reason', v_words ->> 1, 'text_area', p_action = 'customer_decline', p_most => 2000,
                         p_hint => 'The requester reads it, and it stays in the log. Do not name the customer in it.'));
end
$$;
comment on function inbound.render_reason(text, text, text) is 'The view of the form that asks for a reason.';
