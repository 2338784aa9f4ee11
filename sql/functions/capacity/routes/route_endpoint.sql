-- Hook of webhooks.endpoint_changed: makes the routes of one endpoint what they should be, none if it was removed.
--
-- Whoever gets here has the row of the endpoint, so nobody else writes these routes meanwhile and there is nothing to wait for; a relay
-- that disables an endpoint takes that row only if it is free. What is as it should be is not written.
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
comment on function capacity.route_endpoint(jsonb) is 'Makes the routes of an endpoint what they should be. Nullable: result.';
