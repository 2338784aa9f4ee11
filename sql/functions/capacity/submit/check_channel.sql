-- Refuses a Slack channel that is not the workspace's, when a member named it over the API. One app posts for all workspaces, so if
-- channels could be named freely, strangers could post in them and use up their rate limit. Nothing here reveals
-- which channels others have. The channel in which somebody typed in Slack is trusted, and so are machines and operators.
--
-- True, or a refusal, like capacity.check_terms().
create or replace function capacity.check_channel(p_workspace directory.workspaces, p_via text, p_channel text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_channel is not null and p_via in ('api', 'web')
     and (p_workspace.slack_channel_id = p_channel or p_channel = any (p_workspace.slack_channel_ids)) is not true then
    perform headroom.fail('invalid_input', 'The slack_channel_id of the request is not acceptable.',
                          'slack_channel_id: a channel of the workspace',
      'Leave it out, or ask an operator to add the channel: headroom policy settings --slack-channels. Nothing was written.');
  end if;
  return true;
end
$$;
comment on function capacity.check_channel(directory.workspaces, text, text)
  is 'Raises invalid_input for a Slack channel that a member may not name.';
