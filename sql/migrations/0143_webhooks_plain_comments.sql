-- Comments of the tables of webhooks in plain words.
comment on column webhooks.alerts.routing_key is
  'PagerDuty''s integration key, which goes into the body of its events when they are sent; no row contains it.';
comment on column webhooks.alerts.repeat_minutes is
  'How long it is quiet about a stream and rail, unless its last dead letter is gone meanwhile.';
comment on column webhooks.alerts_raised.last_died_at is 'When the newest reported dead letter died.';
comment on table webhooks.endpoints is 'Where webhooks go, and which topics each endpoint receives. Its secrets are stored separately.';
comment on column webhooks.endpoints.tenant_id is
  'The workspace whose events, and only whose rows, it receives; null: it belongs to the installation and may receive any.';
comment on column webhooks.endpoints.private is 'An operator allowed http and a private address; a relay must allow them as well.';
comment on column webhooks.envelopes.instruction_id is 'Source and id of the event, which together identify it.';
comment on column webhooks.envelopes.outbox_ids is
  'Its deliveries, one per endpoint that receives it; null until the publishing transaction commits.';
