-- What each workspace needs from the installation, for checks that it is there: whether people work in it, where links lead, and whether
-- it is connected to Slack and Linear.
create or replace function capacity.workspace_needs()
returns table (workspace_id text, in_use boolean, public_url text, slack_channels text[], slack_connected boolean, linear_team_id text,
               subscribed boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select w.id, exists (select from directory.members m where m.workspace_id = w.id and m.active), w.public_url,
         array_remove(w.slack_channel_id || w.slack_channel_ids, null),
         coalesce(w.slack_channel_id, w.slack_team_id, w.slack_enterprise_id) is not null, w.linear_team_id,
         exists (select from capacity.subscriptions s where s.workspace_id = w.id and s.enabled)
    from directory.workspaces w order by w.id;
$$;
comment on function capacity.workspace_needs()
  is 'What each workspace needs of the installation. Nullable: public_url, linear_team_id.';
