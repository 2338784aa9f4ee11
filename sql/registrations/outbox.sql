-- Where layers above may join in.
select headroom.declare_hooks('outbox', '{
  "outbox.ended": "Rows were given up, or came too late without order: [{stream, outbox_id, code, tenant_id, rail}]. Waits for nothing.",
  "outbox.finished": "Rows of a stream that is followed were delivered or skipped: {stream, outbox_ids, delivered, at}. Waits for nothing.",
  "outbox.circuits": "Circuits opened, or closed again: [{destination, circuit, code}], in this order. Waits for nothing.",
  "outbox.captured": "Deliveries brought back fields: [{stream, key, name, value, outbox_id, rail}].",
  "outbox.erased": "A row''s payload was erased: {stream_id, instruction_id}. Copies of it go too.",
  "outbox.collected": "What is past its retention is being collected: {batch}. Answers {more} when there is more to do."
}');

-- What producers may use without asking anybody: messages to people, each one for itself.
select outbox.ensure_stream('notifications',
  '{"ordered": false, "resend_blind": true, "retention": "quarter", "dedupe_days": 180}');
