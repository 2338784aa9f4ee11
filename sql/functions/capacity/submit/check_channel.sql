-- Refuses a Slack channel that is not the workspace's, when a member named it over the API. One app posts for all workspaces, so a
-- channel that could be named freely would be written in by strangers, and their messages would use up its rate. Nothing here reveals
-- which channels others have. The channel in which somebody typed in Slack is trusted, and so are machines and operators.
create or replace function capacity.check_channel(p_workspace_id text, p_via text, p_channel text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_channel is not null and p_via in ('api', 'web') and not exists (
    select from directory.workspaces w where w.id = p_workspace_id
      and (w.slack_channel_id = p_channel or p_channel = any (w.slack_channel_ids)))
  then
    perform headroom.fail('invalid_input', 'The slack_channel_id of the request is not acceptable.',
                          'slack_channel_id: a channel of the workspace',
      'Leave it out, or ask an operator to add the channel: headroom policy settings --slack-channels. Nothing was written.');
  end if;
end
$$;
comment on function capacity.check_channel(text, text, text) is 'Raises invalid_input for a Slack channel that a member may not name.';
