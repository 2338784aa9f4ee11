-- How somebody is told directly: as notify finds them, or by mail where neither the request nor its workspace uses Slack.
create or replace function capacity.direct_channel(p_request capacity.requests) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case when p_request.slack_channel_id is not null or w.slack_channel_id is not null then 'direct' else 'email' end
    from directory.workspaces w where w.id = p_request.workspace_id;
$$;
comment on function capacity.direct_channel(capacity.requests) is 'The channel by which members are told directly.';
