-- Lets an endpoint receive events again, even if its receiver asked for a pause before. Events from the meantime were not kept for it:
-- webhooks.replay_envelopes() publishes them again, and rows that died waiting are redriven like any other dead letter.
create or replace function webhooks.enable_endpoint(p_name text, p_tenant_id text default null) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint webhooks.endpoints := webhooks.find_endpoint(p_name, p_tenant_id);
begin
  update webhooks.endpoints e
     set enabled = true, disabled_at = null, disabled_code = null, disabled_reason = null, version = e.version + 1, updated_at = now()
   where e.id = v_endpoint.id and not e.enabled;
  perform outbox.clear_destination('endpoint:' || v_endpoint.id);
end
$$;
comment on function webhooks.enable_endpoint(text, text) is 'Enables an endpoint.';
