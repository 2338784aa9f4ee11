-- Which workspace of ours a Slack workspace speaks for: the one that names it; else the one that names its Enterprise Grid; else,
-- where no workspace names any, the default one. A Slack workspace that nobody named is a stranger as soon as one is named: its
-- people must not end up in somebody else's requests.
--
-- The row itself, which whatever follows is given: it is read once for each receipt.
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
