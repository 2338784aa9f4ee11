-- The points where layers above may add functions.
select headroom.declare_hooks('outbox', '{
  "outbox.ended": "Rows were given up, or came too late without order: [{stream, outbox_id, code, tenant_id, rail}]. Waits for nothing.",
  "outbox.finished": "Rows of a stream that is followed were delivered or skipped: {stream, outbox_ids, delivered, at}. Waits for nothing.",
  "outbox.circuits": "Circuits opened, or closed again: [{destination, circuit, code}], in this order. Waits for nothing.",
  "outbox.captured": "Deliveries brought back fields: [{stream, key, name, value, outbox_id, rail}].",
  "outbox.erased": "A row''s payload was erased: {stream_id, instruction_id}. Copies of it go too.",
  "outbox.collected": "What is past its retention is being collected: {batch}. Answers {more} when there is more to do."
}');

-- Each layer below lists these, and what a layer no longer lists is removed. Grants that operators made stay.
delete from outbox.reserved_kinds;
delete from outbox.stream_rails where registered;

-- Destinations have no rate limit of their own, and their circuit opens after five failures in a row.
select outbox.ensure_limits('{"*": {"min_interval_ms": 0, "failure_threshold": 5, "open_base_ms": 15000}}');

-- What producers may use without asking anybody: messages to people, each one independent.
select outbox.ensure_stream('notifications',
  '{"ordered": false, "resend_blind": true, "retention": "quarter", "dedupe_days": 180}');
