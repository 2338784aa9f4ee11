-- Grants of the schema `webhooks`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('webhooks');

-- Relays read where an endpoint is and what it signs with, and send alerts about dead letters.
grant usage on schema webhooks to headroom_executor;
grant execute on function
  webhooks.endpoint_for_relay(uuid, text),
  webhooks.endpoint_gone(uuid, integer),
  webhooks.raise_alerts()
to headroom_executor;

-- Control manages endpoints and alerts; no role reads their secrets.
grant usage on schema webhooks to headroom_control, headroom_auditor;
grant select on all tables in schema webhooks to headroom_control, headroom_auditor;
revoke select on webhooks.endpoint_secrets, webhooks.alerts from headroom_control, headroom_auditor;
grant execute on function
  webhooks.put_endpoint(text, jsonb, text, boolean, text),
  webhooks.remove_endpoint(text, text),
  webhooks.rotate_endpoint_secret(text, text, interval, text),
  webhooks.enable_endpoint(text, text),
  webhooks.disable_endpoint(text, text, text),
  webhooks.ping_endpoint(text, text),
  webhooks.replay_envelopes(text, timestamptz, timestamptz, text),
  webhooks.list_alerts(),
  webhooks.put_alert(text, jsonb),
  webhooks.remove_alert(text)
to headroom_control;
grant execute on function
  webhooks.kept_in_vault()
to headroom_executor, headroom_control, headroom_auditor;
grant execute on function
  webhooks.list_endpoints(text),
  webhooks.destination_status()
to headroom_control, headroom_auditor;
