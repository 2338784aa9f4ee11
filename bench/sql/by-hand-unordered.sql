-- The row writes of an unordered enqueue, written out by hand as one statement: their cost without the function,
-- its checks and its query for relays. Stream and rail are known numbers here.
\set id random(1, 9000000000000000000)
\set key random(1, 1000)
with body as materialized (
  select '{"i": 1, "key": "k1", "seq": 0, "type": "order.created", "pad": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}'::jsonb as doc, gen_random_uuid() as salt
), fresh as (
  insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, salt, payload_hash)
  select :stream_id, 'i' || :id, 'i' || :id, uuidv7(), salt, sha256(uuid_send(salt) || convert_to(doc::text, 'UTF8')) from body
  on conflict do nothing
  returning outbox_id, payload_hash
), payload as (
  insert into outbox.payloads (outbox_id, stream_id, rail_id, priority, instruction_id, idempotency_key, payload_hash, payload, key)
  select fresh.outbox_id, :stream_id, :rail_id, 5, 'i' || :id, 'i' || :id, fresh.payload_hash, body.doc, 'k' || :key
    from fresh, body
)
insert into outbox.pending_unordered (outbox_id, stream_id, priority, due, payload_hash)
select outbox_id, :stream_id, 5, clock_timestamp(), payload_hash from fresh
returning outbox_id;
