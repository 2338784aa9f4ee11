-- The infra groups of a workspace, with their members.
create or replace function directory.list_groups(p_workspace_id text)
returns table (id text, name text, members text[], slack_channel_id text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select g.id, g.name,
         array(select gm.member_id from directory.group_members gm where gm.workspace_id = g.workspace_id and gm.group_id = g.id
               order by gm.member_id),
         g.slack_channel_id
    from directory.groups g
   where g.workspace_id = p_workspace_id
   order by g.id;
end
$$;
comment on function directory.list_groups(text) is 'Infra groups of a workspace and who is in them. Nullable: slack_channel_id.';
