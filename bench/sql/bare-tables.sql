-- The target of a bare INSERT: one table with the columns that an enqueue fills and the indexes that it keeps, each
-- once. It can neither lease, number, deduplicate across retention nor archive; it is the floor, not an outbox.
create schema bench;
create table bench.bare_unordered (
  outbox_id uuid primary key default uuidv7(),
  stream_id smallint not null,
  rail_id smallint not null,
  priority smallint not null,
  due timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  instruction_id text not null,
  idempotency_key text not null,
  payload_hash bytea not null,
  payload jsonb not null,
  key text,
  unique (stream_id, instruction_id, idempotency_key)
);
create index bare_unordered_due on bench.bare_unordered (stream_id, priority, due);
create index bare_unordered_age on bench.bare_unordered using brin (created_at);

create table bench.bare_ordered (
  outbox_id uuid primary key default uuidv7(),
  lane_id bigint not null,
  seq bigint not null,
  stream_id smallint not null,
  rail_id smallint not null,
  priority smallint not null,
  due timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  instruction_id text not null,
  idempotency_key text not null,
  payload_hash bytea not null,
  payload jsonb not null,
  unique (stream_id, instruction_id, idempotency_key),
  unique (lane_id, seq)
);
create index bare_ordered_age on bench.bare_ordered using brin (created_at);
