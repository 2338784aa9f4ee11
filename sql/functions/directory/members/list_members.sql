-- The directory of a workspace, with each member's groups.
create or replace function directory.list_members(p_workspace_id text, p_inactive boolean default false)
returns table (
  id text, display_name text, email text, slack_user_id text, without_slack_by text, without_slack_at timestamptz, roles text[],
  groups text[], delegate_id text, away_from timestamptz, away_until timestamptz, away boolean, active boolean, created_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if not exists (select from directory.workspaces w where w.id = p_workspace_id) then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(p_workspace_id, 64)), null,
                          'List workspaces: headroom policy settings');
  end if;
  return query
  select m.id, m.display_name, m.email, m.slack_user_id, m.without_slack_by, m.without_slack_at, m.roles,
         array(select g.group_id from directory.group_members g where g.workspace_id = m.workspace_id and g.member_id = m.id
               order by g.group_id),
         m.delegate_id, m.away_from, m.away_until, coalesce(now() between m.away_from and m.away_until, false), m.active, m.created_at
    from directory.members m
   where m.workspace_id = p_workspace_id and (m.active or p_inactive)
   order by m.id;
end
$$;
comment on function directory.list_members(text, boolean)
  is 'Members of a workspace and their groups. Nullable: email, slack_user_id, without_slack_by, without_slack_at, delegate_id, away_from, '
     'away_until.';
