-- Recomputes all routes. Every migration runs this: the one that adds the table, for existing endpoints; when the
-- product is added to an engine that had endpoints; and when a release adds a type of event, or reads topics differently.
--
-- Nobody changes an endpoint or a subscription until the migration ends: afterwards the triggers report changes, and earlier changes
-- are seen here.
create or replace function capacity.route_all() returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  lock table webhooks.endpoints, capacity.subscriptions in share row exclusive mode;
  with wanted as materialized (
    select w.workspace_id, w.event_type, w.name from capacity.wanted_routes() w
  ), dropped as (
    delete from capacity.routes r where (r.workspace_id, r.event_type, r.name) not in (select w.* from wanted w)
  )
  insert into capacity.routes select w.* from wanted w on conflict do nothing;
end
$$;
comment on function capacity.route_all() is 'Recomputes all routes.';
