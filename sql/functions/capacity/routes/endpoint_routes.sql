-- The routes that an endpoint should have: one for each type of event that its topics take, and none while it is disabled.
--
-- An engine that was alone takes any tenant, one without a name too. Under that name are the routes of the installation, which hears of
-- everybody, so such an endpoint gets none; there is no such workspace either.
create or replace function capacity.endpoint_routes(p_endpoint webhooks.endpoints) returns setof capacity.routes
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_endpoint.tenant_id, ''), t.event_type, p_endpoint.id::text
    from unnest(enum_range(null::public.capacity_request_event_type)) t(event_type)
   where p_endpoint.enabled and p_endpoint.tenant_id is distinct from ''
     and webhooks.topic_matches(p_endpoint.topics, 'capacity', 'capacity.request.' || lower(t.event_type::text collate "C"));
$$;
comment on function capacity.endpoint_routes(webhooks.endpoints) is 'The routes that an endpoint should have.';
