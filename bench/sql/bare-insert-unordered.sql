-- One row into one table.
\set id random(1, 9000000000000000000)
\set key random(1, 1000)
insert into bench.bare_unordered (stream_id, rail_id, priority, instruction_id, idempotency_key, payload_hash, payload, key)
select :stream_id, :rail_id, 5, 'i' || :id, 'i' || :id, sha256(convert_to(doc::text, 'UTF8')), doc, 'k' || :key
  from (select '{"i": 1, "key": "k1", "seq": 0, "type": "order.created", "pad": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}'::jsonb as doc) body
returning outbox_id;
