-- Trigger of webhooks.endpoints: tells layers above that an endpoint was made, hears of other events, was enabled, disabled or removed. A
-- trigger, because all who change one come by here, whoever writes the next function. If a hook refuses, nothing changes: a relay whose
-- receiver is gone gives up its row as it would have, and the endpoint is disabled at the next such answer.
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
comment on function webhooks.tell_endpoint_changed() is 'Tells layers above that an endpoint changed.';
