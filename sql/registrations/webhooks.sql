-- What endpoints and alerts need of the engine, and the points where layers above may add functions.
select headroom.declare_hooks('webhooks', '{
  "webhooks.endpoint_changed": "An endpoint is new, hears of other events, was enabled, disabled or removed: {endpoint_id, tenant_id}.",
  "webhooks.tenant_named": "An endpoint is made for a tenant: {tenant_id}. The layer that knows the tenants refuses an unknown one."
}');
select headroom.register_hooks('webhooks', '{
  "outbox.erased": "webhooks.erase_envelope",
  "outbox.collected": "webhooks.collect_envelopes"
}');

select outbox.ensure_rails('{"webhook": {"capability": "idempotent", "timeout_ms": 15000}}');

-- Ordered, so that an alert is closed after it was opened; of the alerts that could not be sent yet, only the last is sent.
select outbox.ensure_stream('alerts',
  '{"resend_blind": true, "max_tries": 12, "backoff_factor": 3, "retention": "quarter", "dedupe_days": 180, "writers": []}');
select outbox.register_renderers('alerts', '{"alert": "webhooks.render_alert"}');

-- Endpoints of the database, and those of the relays' file as subscriptions name them. Applications name these without the kind.
select outbox.reserve_kinds('{endpoint:,file:}');
