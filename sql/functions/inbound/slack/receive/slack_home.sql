-- Our workspace for a Slack workspace: the one that names it; else the one that names its Enterprise Grid; else,
-- if no workspace names any, the default one. As soon as one Slack workspace is named, all unnamed ones are strangers: their
-- people must not end up in somebody else's requests.
--
-- Returns the row itself, which is passed to all later steps: it is read once per receipt.
create or replace function inbound.slack_home(p_team_id text, p_enterprise_id text) returns directory.workspaces
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_home directory.workspaces;
begin
  select w.* into v_home from directory.workspaces w
   where w.slack_team_id = p_team_id or w.slack_enterprise_id = p_enterprise_id
   order by (w.slack_team_id = p_team_id) is true desc limit 1;
  if not found then
    select w.* into v_home from directory.workspaces w
     where w.id = 'default' and not exists (select from directory.workspaces n
                                             where n.slack_team_id is not null or n.slack_enterprise_id is not null);
  end if;
  return v_home;
end
$$;
comment on function inbound.slack_home(text, text) is 'The workspace that a Slack team or enterprise acts on. Nullable: result.';
