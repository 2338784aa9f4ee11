-- Lets an endpoint hear of events again. What happened meanwhile was not kept for it: outbox.replay_envelopes() publishes it again, and
-- rows that died waiting are redriven like any other dead letter.
create or replace function outbox.enable_endpoint(p_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform outbox.find_endpoint(p_name, null, true);
  update outbox.endpoints e
     set enabled = true, disabled_at = null, disabled_code = null, disabled_reason = null, version = e.version + 1, updated_at = now()
   where e.name = p_name and not e.enabled;
end
$$;
comment on function outbox.enable_endpoint(text) is 'Enables an endpoint.';
