-- The rows themselves. No foreign keys between these tables: the functions are the only writers, they check what they
-- write, and a foreign key on a hot table would take a share lock on a shared parent for every row.

-- What producers lock: the number allocator of each key. A lane is idle when idle_at = next_seq, and only an idle lane
-- has no row in heads; so a producer learns from its own bump whether it must add one.
create table outbox.lanes (
  lane_id bigint generated always as identity primary key,
  stream_id smallint not null,
  key text not null,
  next_seq bigint not null,
  idle_at bigint not null,
  delivered_to bigint,
  unique (stream_id, key)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
comment on table outbox.lanes is 'One row per key: the next number. Written by producers, so relays never wait for it.';
comment on column outbox.lanes.delivered_to
  is 'Highest number delivered when the lane last went idle; an active lane''s head knows better.';

-- What relays lock: the first undelivered row of each active lane. Only these can be due, so a backlog behind a head
-- and a blocked lane cost the others nothing. The queue in which a lane stands is that of its first row; zero for rows that go
-- nowhere in particular.
create table outbox.heads (
  lane_id bigint primary key,
  stream_id smallint not null,
  priority smallint not null,
  destination_id integer not null default 0,
  due timestamptz not null,
  head_seq bigint not null,
  claim_id bigint,
  claimed_to bigint,
  rewind_to bigint,
  delivered_to bigint,
  run_limit smallint,
  misses smallint not null default 0,
  blocked boolean not null default false
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index heads_due on outbox.heads (stream_id, destination_id, priority, due) where claim_id is null and not blocked;
comment on column outbox.heads.claimed_to is 'Last number of the run that is in flight under claim_id.';
comment on column outbox.heads.rewind_to is 'A row redriven while the lane was in flight: the lane starts over from here.';
comment on column outbox.heads.delivered_to
  is 'Highest number delivered since the lane became active: what a redrive must not go behind unasked.';
comment on column outbox.heads.run_limit
  is 'One after a failure or a reap, until something is delivered; null: the stream''s run length.';
comment on column outbox.heads.misses is 'How often the lane was looked at while a producer''s transaction was still open.';

-- How far the sweep has come. A sequence, because it moves at once and whatever becomes of the transaction: a lane that cannot
-- be repaired must not keep the sweep from those behind it.
create sequence outbox.swept_to as bigint minvalue 0 start 0;
comment on sequence outbox.swept_to is 'The last lane that the sweep looked at; zero when it begins anew.';

-- Rows of ordered streams, until they are finished.
create table outbox.pending (
  lane_id bigint not null,
  seq bigint not null,
  outbox_id uuid not null,
  due timestamptz not null,
  expires_at timestamptz,
  first_sent_at timestamptz,
  lines integer not null default 0,
  destination_id integer,
  bytes integer not null default 0,
  tries smallint not null default 0,
  priority smallint not null default 5,
  uncertain boolean not null default false,
  special boolean not null default false,
  payload_hash bytea not null,
  coalesce_key text,
  primary key (lane_id, seq)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index pending_special on outbox.pending (lane_id, seq) where special;
-- Rows that may leave without being sent. Most lanes have none, and are not searched for them.
create index pending_replaceable on outbox.pending (lane_id, seq) where coalesce_key is not null or expires_at is not null;
comment on column outbox.pending.lines is 'Archive lines written and answered; while in flight the archive has one more.';
comment on column outbox.pending.special
  is 'Not sendable at sight: dated, waiting for its next try, expiring, coalescing, or bound for a destination with limits.';
comment on column outbox.pending.payload_hash
  is 'Also in payloads; here so that a claim writes its archive lines without reading them.';

-- Rows of streams without order, until they are claimed.
create table outbox.pending_unordered (
  outbox_id uuid primary key,
  stream_id smallint not null,
  priority smallint not null,
  destination_id integer not null default 0,
  due timestamptz not null,
  expires_at timestamptz,
  first_sent_at timestamptz,
  lines integer not null default 0,
  bytes integer not null default 0,
  tries smallint not null default 0,
  uncertain boolean not null default false,
  payload_hash bytea not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index pending_unordered_due on outbox.pending_unordered (stream_id, destination_id, priority, due);
-- The oldest of those that were tried: their dates no longer say how old they are. New rows are not in it.
create index pending_unordered_tried on outbox.pending_unordered (stream_id, outbox_id) where lines > 0;

-- The unchanging side of a row, and its payload, which can be erased without touching the archive. How much a claim brings into memory
-- is bounded by what its rows weigh, which is known without reading them: hence bytes, here and in both tables of pending rows.
create table outbox.payloads (
  outbox_id uuid primary key,
  lane_id bigint,
  seq bigint,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  erased_at timestamptz,
  destination_id integer,
  bytes integer not null default 0,
  stream_id smallint not null,
  rail_id smallint not null,
  priority smallint not null,
  tenant_id text,
  key text,
  instruction_id text not null,
  idempotency_key text not null,
  coalesce_key text,
  payload_hash bytea not null,
  payload jsonb,
  captures jsonb,
  binds jsonb,
  erased_by text,
  erase_reason text,
  check ((payload is null) = (erased_at is not null))
);
create index payloads_expiring on outbox.payloads (stream_id, expires_at) where expires_at is not null and erased_at is null;
comment on column outbox.payloads.bytes is 'Length of the payload''s text.';
comment on column outbox.payloads.tenant_id
  is 'Whose row this is; null: the installation''s. A tenant''s endpoint is sent that tenant''s rows only.';
comment on column outbox.payloads.key is 'Only on streams without order; elsewhere the lane has it.';

-- Outlives the archive: a repeat is recognised after the archive of the first has been dropped.
create table outbox.dedupe (
  stream_id smallint not null,
  instruction_id text not null,
  idempotency_key text not null,
  outbox_id uuid not null,
  salt uuid,
  payload_hash bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (stream_id, instruction_id, idempotency_key)
);
create index dedupe_age on outbox.dedupe using brin (created_at);
comment on column outbox.dedupe.salt
  is 'Random, and part of what payload_hash covers, here and in the archive. '
     'Erased with the payload: then no guess of the content can be confirmed.';

-- Given up. A blocked lane waits for its dead head.
create table outbox.dead (
  outbox_id uuid primary key,
  stream_id smallint not null,
  lane_id bigint,
  seq bigint,
  died_at timestamptz not null default now(),
  first_sent_at timestamptz,
  lines integer not null,
  tries smallint not null,
  priority smallint not null,
  uncertain boolean not null,
  parked boolean not null,
  error_code text not null,
  error_message text
);
create index dead_by_stream on outbox.dead (stream_id, died_at);
create index dead_by_lane on outbox.dead (lane_id, seq);
comment on column outbox.dead.parked is 'Nobody knows whether it arrived and the rail cannot tell: only a person may decide.';

-- What deliveries brought back, kept under the lane for later rows of the same key.
create table outbox.captures (
  lane_id bigint not null,
  name text not null,
  value jsonb not null,
  outbox_id uuid not null,
  captured_at timestamptz not null default now(),
  primary key (lane_id, name)
);
