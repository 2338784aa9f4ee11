-- One row into one table; its number within the key is drawn, not allocated.
\set id random(1, 9000000000000000000)
\set key random(1, 1000)
insert into bench.bare_ordered (lane_id, seq, stream_id, rail_id, priority, instruction_id, idempotency_key, payload_hash, payload)
select :key, :id, :stream_id, :rail_id, 5, 'i' || :id, 'i' || :id, sha256(convert_to(doc::text, 'UTF8')), doc
  from (select '{"i": 1, "key": "k1", "seq": 0, "type": "order.created", "pad": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}'::jsonb as doc) body
returning outbox_id;
