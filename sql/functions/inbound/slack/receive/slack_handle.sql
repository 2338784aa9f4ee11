-- Handles a new receipt of Slack for the workspace that it belongs to: refuses strangers, finds the member, and does what is
-- asked. The reply has the answer for Slack, and the values to store in the table of receipts.
create or replace function inbound.slack_handle(p_receipt jsonb, p_home directory.workspaces) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text := p_receipt ->> 'kind';
  v_member directory.members;
  v_reply jsonb;
begin
  -- Events, dismissed forms, and buttons and forms that are not ours ask for nothing.
  if v_kind not in ('command', 'action', 'submission', 'shortcut')
     or v_kind = 'action' and (inbound.action_event(p_receipt ->> 'what')).event_type is null
        and coalesce(p_receipt ->> 'what', '') not in ('nudge', 'note', 'customer_link', 'job_retry', 'job_complete', 'job_fail')
     or v_kind = 'submission' and coalesce(p_receipt ->> 'what', '') not in ('capacity_intake', 'capacity_reason', 'capacity_note',
                                                                             'capacity_link')
     or v_kind = 'shortcut' and p_receipt ->> 'what' is distinct from 'capacity_intake' then
    return '{"outcome": "ignored", "answer": {}}';
  end if;
  if p_home.id is null then
    perform headroom.fail('not_allowed', 'This Slack workspace is not connected to Headroom.',
                          coalesce(p_receipt ->> 'team', p_receipt ->> 'enterprise'),
                          'An operator connects it by its team id, in the settings of a workspace.');
  end if;
  -- A person from another organisation, in a shared channel, does not become a requester by clicking: from there only people in the
  -- directory act. In an Enterprise Grid people have their own home teams, but so have its guests, and nothing that
  -- Slack sends tells them apart. So a person who belongs neither to the team where the app was used nor to the one that the workspace
  -- names is a stranger until the directory has them.
  if p_receipt ? 'user_team'
     and (p_receipt ->> 'user_team' in (p_receipt ->> 'team', p_receipt ->> 'enterprise', p_home.slack_team_id)) is not true
     and not exists (select from directory.members m where m.workspace_id = p_home.id and m.slack_user_id = p_receipt ->> 'user') then
    perform headroom.fail('not_allowed', 'You are not in the directory of this workspace.', null,
                          'Ask an admin to add you with your Slack id.');
  end if;
  v_member := directory.member_for_slack(p_home.id, p_receipt ->> 'user', p_receipt ->> 'user_name');
  if v_kind = 'command' then
    v_reply := inbound.slack_command(p_receipt, p_home, v_member);
  elsif v_kind = 'action' then
    v_reply := inbound.slack_action(p_receipt, v_member);
  elsif v_kind = 'submission' then
    v_reply := inbound.slack_submission(p_receipt, p_home, v_member);
  else
    v_reply := inbound.slack_form(p_receipt, v_member, '{}') || '{"answer": {}}';
  end if;
  return v_reply || jsonb_build_object('workspace', p_home.id, 'member', v_member.id);
end
$$;
comment on function inbound.slack_handle(jsonb, directory.workspaces)
  is 'Does what a receipt of Slack asks for, and replies. Nullable: p_home.';
