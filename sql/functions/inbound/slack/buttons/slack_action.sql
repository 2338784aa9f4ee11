-- A button of a request's message. Approvals take effect immediately; a decision that needs a reason opens a form for it, if the person
-- could take it at all. A person who is too late is told who decided. A success shows in the message itself, and as a note where it does
-- not.
create or replace function inbound.slack_action(p_receipt jsonb, p_member directory.members) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_meant record := inbound.action_event(p_receipt ->> 'what');
  v_id text := p_receipt ->> 'value';
  v_request capacity.requests;
  v_decided record;
begin
  if starts_with(p_receipt ->> 'what', 'job_') then
    return inbound.slack_job_button(p_receipt, p_member);
  elsif v_meant.event_type is null then
    return inbound.slack_follow_up_button(p_receipt, p_member);
  elsif v_meant.asks_why then
    v_decided := inbound.could_decide(p_member, v_id, v_meant.event_type, true);
    if v_decided.repeated then
      perform headroom.refuse(capacity.too_late(v_decided.request));
    end if;
    perform inbound.slack_open(p_receipt, inbound.render_reason(v_id, p_receipt ->> 'what', p_receipt ->> 'channel'));
    return jsonb_build_object('outcome', 'opened', 'request', v_id, 'answer', '{}'::jsonb);
  end if;
  v_decided := inbound.decide(p_member, v_id, v_meant.event_type, null, true);
  v_request := v_decided.request;
  if v_decided.repeated or v_request.slack_channel_id is distinct from p_receipt ->> 'channel' then
    perform inbound.slack_note(p_receipt, v_decided.said);
  end if;
  return jsonb_build_object('outcome', case when v_decided.repeated then 'answered' else 'done' end, 'request', v_id,
                            'answer', '{}'::jsonb);
end
$$;
comment on function inbound.slack_action(jsonb, directory.members) is 'Carries out a click on a button and replies.';
