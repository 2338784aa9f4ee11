-- Handles a delivery of Slack that is new: finds out for which workspace and who it is, and does what is asked. The reply has the
-- answer for Slack, and what to write into the book of deliveries.
create or replace function inbound.slack_handle(p_delivery jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text := p_delivery ->> 'kind';
  v_workspace_id text;
  v_member capacity.members;
  v_reply jsonb;
begin
  -- Events, forms that were put away, and buttons and forms that are not ours ask for nothing.
  if v_kind not in ('command', 'action', 'submission', 'shortcut')
     or v_kind = 'action' and (inbound.action_event(p_delivery ->> 'what')).event_type is null
        and coalesce(p_delivery ->> 'what', '') not in ('nudge', 'note', 'customer_link')
     or v_kind = 'submission' and coalesce(p_delivery ->> 'what', '') not in ('capacity_intake', 'capacity_reason', 'capacity_note', 'capacity_link')
     or v_kind = 'shortcut' and p_delivery ->> 'what' is distinct from 'capacity_intake' then
    return '{"outcome": "ignored", "answer": {}}';
  end if;
  v_workspace_id := inbound.slack_workspace(p_delivery ->> 'team', p_delivery ->> 'enterprise');
  v_member := inbound.slack_member(v_workspace_id, p_delivery);
  if v_kind = 'command' then
    v_reply := inbound.slack_command(p_delivery, v_member);
  elsif v_kind = 'action' then
    v_reply := inbound.slack_action(p_delivery, v_member);
  elsif v_kind = 'submission' then
    v_reply := inbound.slack_submission(p_delivery, v_member);
  else
    v_reply := inbound.slack_form(p_delivery, v_member, '{}') || '{"answer": {}}';
  end if;
  return v_reply || jsonb_build_object('workspace', v_workspace_id, 'member', v_member.id);
end
$$;
comment on function inbound.slack_handle(jsonb) is 'Does what a delivery of Slack asks for, and replies.';
