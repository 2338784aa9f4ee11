-- Hook of webhooks.endpoint_changed: recomputes the routes of one endpoint; none if it was removed.
--
-- The caller holds the endpoint's row lock, so nobody else writes these routes and there is nothing to wait for; a relay
-- that disables an endpoint takes that lock only if it is free. Routes that are right already are not written.
create or replace function capacity.route_endpoint(p_changed jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := p_changed ->> 'endpoint_id';
begin
  delete from capacity.routes r
   where r.name = v_id::text
     and not exists (select from webhooks.endpoints e cross join lateral capacity.endpoint_routes(e) w where e.id = v_id and w = r);
  insert into capacity.routes
  select w.* from webhooks.endpoints e cross join lateral capacity.endpoint_routes(e) w where e.id = v_id
  on conflict do nothing;
  return null;
end
$$;
comment on function capacity.route_endpoint(jsonb) is 'Recomputes the routes of an endpoint. Nullable: result.';
