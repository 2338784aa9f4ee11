-- The endpoints that receive a workspace's events.
create or replace function capacity.list_subscriptions(p_workspace_id text) returns setof capacity.subscriptions
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select * from capacity.subscriptions s where s.workspace_id = p_workspace_id order by s.endpoint;
$$;
comment on function capacity.list_subscriptions(text) is 'Subscriptions of a workspace.';
