-- The member who clicked or typed, by Slack user id and nothing else. Somebody from another organisation, in a channel that is shared
-- with it, does not become a requester by clicking: only those whom the directory knows already act from there. In an Enterprise Grid
-- people have home teams of their own, but so have its guests, and nothing that Slack sends tells them apart: whoever is of a team that
-- is neither where the app was asked nor the one that the workspace names is a stranger until the directory knows them.
create or replace function inbound.slack_member(p_home directory.workspaces, p_receipt jsonb) returns directory.members
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_receipt ? 'user_team' and p_receipt ->> 'user_team' is distinct from p_receipt ->> 'team'
     and p_receipt ->> 'user_team' is distinct from p_receipt ->> 'enterprise'
     and p_receipt ->> 'user_team' is distinct from p_home.slack_team_id then
    if not exists (select from directory.members m where m.workspace_id = p_home.id and m.slack_user_id = p_receipt ->> 'user') then
      perform headroom.fail('not_allowed', 'You are not in the directory of this workspace.', null,
                            'Ask an admin to add you with your Slack id.');
    end if;
  end if;
  return directory.member_for_slack(p_home.id, p_receipt ->> 'user', p_receipt ->> 'user_name');
end
$$;
comment on function inbound.slack_member(directory.workspaces, jsonb) is 'The active member behind a receipt of Slack.';
