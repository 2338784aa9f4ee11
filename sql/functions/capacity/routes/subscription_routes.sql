-- The routes that a subscription should have: one for each type of event that it names, or for all, and none while it is disabled.
-- The names of endpoints in the relays' file have the prefix `file:`, which keeps them apart from the ids of the others.
create or replace function capacity.subscription_routes(p_subscription capacity.subscriptions) returns setof capacity.routes
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select p_subscription.workspace_id, t.event_type, 'file:' || p_subscription.endpoint
    from unnest(enum_range(null::public.capacity_request_event_type)) t(event_type)
   where p_subscription.enabled and (p_subscription.event_types is null or t.event_type = any (p_subscription.event_types));
$$;
comment on function capacity.subscription_routes(capacity.subscriptions) is 'The routes that a subscription should have.';
