-- The member who clicked or typed, by Slack user id and nothing else. Somebody from another organisation, in a channel that is shared
-- with it, does not become a requester by clicking: only those whom the directory knows already act from there.
create or replace function inbound.slack_member(p_workspace_id text, p_delivery jsonb) returns capacity.members
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_delivery ->> 'user_team' <> p_delivery ->> 'team' and not p_delivery ? 'enterprise'
     and not exists (select from capacity.members m where m.workspace_id = p_workspace_id and m.slack_user_id = p_delivery ->> 'user') then
    perform capacity.fail('not_allowed', 'You are not in the directory of this workspace.', null, 'Ask an admin to add you with your Slack id.');
  end if;
  return capacity.member_for_slack(p_workspace_id, p_delivery ->> 'user', p_delivery ->> 'user_name');
end
$$;
comment on function inbound.slack_member(text, jsonb) is 'The active member behind a delivery of Slack.';
