-- What answers to people in Slack need of the layers below.
select headroom.register_hooks('inbound', '{
  "capacity.customer_erased": "inbound.erase_receipts",
  "capacity.swept": "inbound.forget_receipts"
}');

select outbox.ensure_rails('{
  "slack-interaction": {"capability": "blind", "timeout_ms": 5000, "guarded": true, "credentials": ["SLACK_BOT_TOKEN"]}
}');

-- Forms and notes to one person. Without order, because each is independent; few tries, because a form that opens after its trigger has
-- expired never opens; and never sent twice on a guess.
select outbox.ensure_stream('interactions',
  '{"ordered": false, "max_tries": 4, "backoff_base_ms": 250, "backoff_cap_ms": 5000, "retention": "week", "dedupe_days": 14,
    "forget_minutes": 30, "writers": []}');

select outbox.ensure_grants('{"slack-interaction": ["interactions"], "slack": ["interactions"]}');
select outbox.reserve_kinds('{slack-interactions:}');
