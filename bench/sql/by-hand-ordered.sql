-- The row writes of an ordered enqueue, written out by hand as one statement: their cost without the function,
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
), lane as (
  insert into outbox.lanes as l (stream_id, key, next_seq, idle_at)
  select :stream_id, 'k' || :key, 2, 1 from fresh
  on conflict (stream_id, key) do update set next_seq = l.next_seq + 1
  returning l.lane_id, l.next_seq - 1 as seq, l.idle_at
), payload as (
  insert into outbox.payloads (outbox_id, lane_id, seq, stream_id, rail_id, priority, instruction_id, idempotency_key, payload_hash, payload)
  select fresh.outbox_id, lane.lane_id, lane.seq, :stream_id, :rail_id, 5, 'i' || :id, 'i' || :id, fresh.payload_hash, body.doc
    from fresh, lane, body
), head as (
  insert into outbox.heads (lane_id, stream_id, priority, due, head_seq)
  select lane_id, :stream_id, 5, clock_timestamp(), seq from lane where idle_at = seq
)
insert into outbox.pending (lane_id, seq, outbox_id, due, payload_hash)
select lane.lane_id, lane.seq, fresh.outbox_id, clock_timestamp(), fresh.payload_hash from fresh, lane
returning outbox_id;
