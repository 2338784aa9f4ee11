-- The routes that an endpoint should have: one for each type of event that its topics match, and none while it is disabled.
--
-- An engine installed alone accepts any tenant, including the empty name. That name has the routes of the installation, which gets
-- everybody's events, so such an endpoint gets none; there is no such workspace either.
create or replace function capacity.endpoint_routes(p_endpoint webhooks.endpoints) returns setof capacity.routes
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_endpoint.tenant_id, ''), t.event_type, p_endpoint.id::text
    from unnest(enum_range(null::public.capacity_request_event_type)) t(event_type)
   where p_endpoint.enabled and p_endpoint.tenant_id is distinct from ''
     and webhooks.topic_matches(p_endpoint.topics, 'capacity', 'capacity.request.' || lower(t.event_type::text collate "C"));
$$;
comment on function capacity.endpoint_routes(webhooks.endpoints) is 'The routes that an endpoint should have.';
