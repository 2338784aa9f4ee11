-- One row through the engine's own function, on a stream without order.
\set id random(1, 9000000000000000000)
\set key random(1, 1000)
select outbox_id from outbox.enqueue('bench', 'k' || :key, 'i' || :id, 'i' || :id, 'noop',
  '{"i": 1, "key": "k1", "seq": 0, "type": "order.created", "pad": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}');
