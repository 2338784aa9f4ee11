-- Makes an infra group, or changes it: its name, its Slack channel if one is given (an empty one removes it), and members to add and
-- remove.
create or replace function directory.put_group(
  p_workspace_id text, p_id text, p_name text default null, p_add text[] default '{}', p_remove text[] default '{}',
  p_slack_channel_id text default null,
  out id text, out name text, out members text[], out slack_channel_id text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_unknown text;
begin
  -- One change of a directory at a time: a member who is being removed gets no place.
  perform from directory.workspaces w where w.id = p_workspace_id for no key update;
  if not found then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(p_workspace_id, 64)), null,
                          'Create it first, or name another one.');
  elsif p_id is null or p_id !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' then
    perform headroom.fail('invalid_input', 'The id of a group is 1 to 63 letters, digits, dots, dashes or underscores.', left(p_id, 80));
  elsif length(p_name) not between 1 and 200 then
    perform headroom.fail('invalid_input', 'The name of a group has 1 to 200 characters.');
  elsif p_slack_channel_id !~ '^([A-Z0-9]{2,32})?$' then
    perform headroom.fail('invalid_input', 'The Slack channel of a group is the id of one, such as C024BE91L.',
                          left(p_slack_channel_id, 80), 'Nothing was changed.');
  end if;
  select a.id into v_unknown
    from unnest(p_add) a(id)
   where not exists (select from directory.members m where m.workspace_id = p_workspace_id and m.id = a.id and m.active) limit 1;
  if found then
    perform headroom.fail('invalid_input', format('There is no active member "%s" in this workspace.', left(v_unknown, 64)), null,
      'Add members to the directory first: headroom members put. Nothing was changed.');
  end if;

  insert into directory.groups as g (workspace_id, id, name, slack_channel_id)
  values (p_workspace_id, p_id, coalesce(p_name, p_id), nullif(p_slack_channel_id, ''))
  on conflict (workspace_id, id)
  do update set name = coalesce(p_name, g.name),
                slack_channel_id = case when p_slack_channel_id is null then g.slack_channel_id else excluded.slack_channel_id end;
  delete from directory.group_members gm where gm.workspace_id = p_workspace_id and gm.group_id = p_id and gm.member_id = any (p_remove);
  insert into directory.group_members (workspace_id, group_id, member_id)
  select p_workspace_id, p_id, a.id from unnest(p_add) a(id)
  on conflict do nothing;
  select g.id, g.name, coalesce(array_agg(gm.member_id order by gm.member_id) filter (where gm.member_id is not null), '{}'),
         g.slack_channel_id
    into id, name, members, slack_channel_id
    from directory.groups g
    left join directory.group_members gm on gm.workspace_id = g.workspace_id and gm.group_id = g.id
   where g.workspace_id = p_workspace_id and g.id = p_id
   group by g.id, g.name, g.slack_channel_id;
end
$$;
comment on function directory.put_group(text, text, text, text[], text[], text)
  is 'Makes an infra group or changes its name, members and channel. Nullable: slack_channel_id.';
