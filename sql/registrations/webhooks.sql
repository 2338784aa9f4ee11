-- What endpoints and alerts need of the engine, and where layers above may join in.
select headroom.declare_hooks('webhooks', '{
  "webhooks.tenant_named": "An endpoint is made for a tenant: {tenant_id}. Whoever knows the tenants refuses a stranger."
}');
select headroom.register_hooks('webhooks', '{
  "outbox.erased": "webhooks.erase_envelope",
  "outbox.collected": "webhooks.collect_envelopes"
}');

select outbox.ensure_rails('{"webhook": {"capability": "idempotent", "timeout_ms": 15000}}');

-- Ordered, so that all is well comes after all is not; of what could not be sent yet only the last counts.
select outbox.ensure_stream('alerts',
  '{"resend_blind": true, "max_tries": 12, "backoff_factor": 3, "retention": "quarter", "dedupe_days": 180, "writers": []}');
select outbox.register_renderers('alerts', '{"alert": "webhooks.render_alert"}');
