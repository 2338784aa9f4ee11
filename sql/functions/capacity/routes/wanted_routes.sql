-- All routes that should exist, derived from the endpoints and subscriptions: of one workspace, or all including the installation's.
create or replace function capacity.wanted_routes(p_workspace_id text default null) returns setof capacity.routes
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select r.* from webhooks.endpoints e cross join lateral capacity.endpoint_routes(e) r
   where p_workspace_id is null or e.tenant_id = p_workspace_id
  union all
  select r.* from capacity.subscriptions s cross join lateral capacity.subscription_routes(s) r
   where p_workspace_id is null or s.workspace_id = p_workspace_id;
$$;
comment on function capacity.wanted_routes(text) is 'The routes that should exist.';
