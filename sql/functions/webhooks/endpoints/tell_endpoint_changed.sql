-- Trigger of webhooks.endpoints: notifies layers above that an endpoint was made, changed its topics, was enabled, disabled or removed. A
-- trigger, because every function that changes an endpoint passes through it, also future ones. If a hook refuses, nothing changes: a relay
-- whose receiver is gone gives up its row all the same, and the endpoint is disabled at the next such answer.
create or replace function webhooks.tell_endpoint_changed() returns trigger
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint webhooks.endpoints := coalesce(new, old);
begin
  perform headroom.run_hooks('webhooks.endpoint_changed',
    jsonb_build_object('endpoint_id', v_endpoint.id, 'tenant_id', v_endpoint.tenant_id));
  return null;
end
$$;
comment on function webhooks.tell_endpoint_changed() is 'Notifies layers above that an endpoint changed.';
