-- One row through the engine's own function, on a stream that keeps order within 1,000 keys.
\set id random(1, 9000000000000000000)
\set key random(1, 1000)
select outbox_id from outbox.enqueue('bench-ordered', 'k' || :key, 'i' || :id, 'i' || :id, 'noop',
  '{"i": 1, "key": "k1", "seq": 0, "type": "order.created", "pad": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}');
