-- Comments of the engine's tables in plain words.
comment on table headroom.boxes is 'Secrets sealed under a key that only the environment has; null: Vault has it.';
comment on table headroom.hook_points is 'Points where upper layers may add functions, declared by the layer that runs them.';
comment on table headroom.hooks is 'Functions (jsonb) returns jsonb that upper layers registered. Only the migrator writes it.';
comment on column headroom.sealing_key.key_id is 'Made by headroom.key_id(), which does not reveal the key.';
comment on table outbox.answers is
  'What a rail or a receiver said about a try that was not delivered, by line of the archive. Erased and collected with the payload.';
comment on column outbox.claims.tries is 'Earlier tries of rows without order, in the order of outbox_ids; null when all are new.';
comment on table outbox.gate_notes is
  'What settles noted about destinations, until a session takes the gate: a settle writes its note and waits for nobody.';
comment on table outbox.gates is
  'What relays found out about destinations. Written only under a row lock, which is tried for and never waited for.';
comment on column outbox.heads.delivered_to is
  'Highest number delivered since the lane became active: a redrive goes behind it only on request.';
comment on column outbox.heads.misses is 'How often the lane was checked while a producer''s transaction was still open.';
comment on column outbox.lanes.delivered_to is 'Highest number delivered when the lane last went idle; for an active lane, see its head.';
comment on column outbox.lanes.delivered_at is
  'When a row of the lane was last delivered, as of when it last went idle; for an active lane, see its head.';
comment on table outbox.limits is
  'Operators'' limits of destinations: by name, by kind ("slack:" for all that begin so), and "*" for the rest. Relays only read it.';
comment on column outbox.limits.min_interval_ms is
  'Shortest time between two sends. Null, here and in the next two: the kind''s value, otherwise that of "*".';
comment on column outbox.limits.clears is
  'How often an operator cleared what relays found out; what they found out under another number is ignored.';
comment on column outbox.pending.special is
  'Needs a decision before it is sent: dated, waiting for its next try, expiring, coalescing, or bound for a destination with limits.';
comment on table outbox.rails is 'What each rail can prove. A row may only name a rail that is listed here.';
comment on table outbox.registered_settings is
  'The settings of streams, rails and limits as the last migration registered them. Different values were set by an operator or a relay.';
comment on column outbox.relays.wants_notify is 'False while the relay is busy: it claims again anyway, and NOTIFY serialises commits.';
comment on column outbox.relays.ended_at is 'When its turn ended; a relay that is a process removes its row instead.';
comment on table outbox.reserved_kinds is
  'Beginnings of destinations that only our own functions may name: their limits and circuits delay our own messages.';
comment on table outbox.retention_classes is
  'How long archive lines and payloads are kept, and how wide a partition is. Null days: forever.';
comment on column outbox.streams.on_dead is 'block: a dead row holds its lane until an operator acts. skip: the lane continues.';
comment on column outbox.streams.dedupe_days is
  'How long an idempotency key is remembered; null: forever. Never shorter than the archive.';
comment on column outbox.streams.forget_minutes is
  'How long after its expiry an unfinished row is given up, and a payload erased; null: payloads are kept as long as the archive.';
comment on column outbox.streams.writers is
  'Roles that may enqueue here; null: everybody who may call outbox.enqueue(). Empty: only Headroom''s own functions, permanently.';
comment on column outbox.streams.followed is
  'Layers above are notified of rows that were delivered or skipped (hook outbox.finished). For streams without order.';
comment on table outbox.ways is
  'How rows of a stream go, and who wrote them. Producers add to it and change nothing; two that are first at the same time make two.';
