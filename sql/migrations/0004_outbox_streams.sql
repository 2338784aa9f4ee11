-- run as: migrator
-- The delivery engine, and what it is told: retention classes, streams, rails, renderers; and who is running it. The migrator makes the
-- schema, which needs a right on the database; everything else is made as the owner.
create schema outbox authorization headroom_owner;
comment on schema outbox is 'The delivery engine: streams, lanes, pending rows, and the append-only archive of attempts.';

set local role headroom_owner;

-- How long the archive of a stream is kept. The class is part of every outbox id (its eighth byte), which is what lets
-- the archive be partitioned by class and time and still number attempts uniquely per row.
create table outbox.retention_classes (
  class_id smallint primary key check (class_id between 1 and 255),
  name text not null unique check (name ~ '^[a-z][a-z0-9_]{0,30}$'),
  retain_days integer check (retain_days > 0),
  partition_days integer not null check (partition_days between 1 and 366)
);
comment on table outbox.retention_classes
  is 'How long archive lines and payloads are kept, and how wide a partition is. Null days: for ever.';
insert into outbox.retention_classes (class_id, name, retain_days, partition_days) values
  (1, 'forever', null, 30),
  (2, 'week', 7, 1),
  (3, 'quarter', 90, 7);

create table outbox.streams (
  stream_id smallint generated always as identity primary key,
  name text not null unique check (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
  ordered boolean not null default true,
  on_dead text not null default 'skip' check (on_dead in ('block', 'skip')),
  carries_money boolean not null default false,
  resend_blind boolean not null default false,
  max_tries smallint not null default 5 check (max_tries between 1 and 1000),
  backoff_base_ms integer not null default 2000 check (backoff_base_ms between 1 and 3600000),
  backoff_factor real not null default 2 check (backoff_factor between 1 and 10),
  backoff_cap_ms integer not null default 3600000 check (backoff_cap_ms between 1 and 86400000),
  lease_seconds integer not null default 90 check (lease_seconds between 1 and 3600),
  run_length smallint not null default 20 check (run_length between 1 and 1000),
  max_payload_bytes integer not null default 262144 check (max_payload_bytes between 1 and 16777216),
  class_id smallint not null references outbox.retention_classes,
  dedupe_days integer check (dedupe_days > 0),
  forget_minutes integer check (forget_minutes > 0),
  writers name[],
  created_at timestamptz not null default now(),
  constraint streams_block_needs_order check (ordered or on_dead = 'skip'),
  constraint streams_money_never_blind check (not (carries_money and resend_blind))
);
create index streams_class on outbox.streams (class_id);
comment on table outbox.streams is 'A named outbox and its settings.';
comment on column outbox.streams.on_dead is 'block: a dead row holds its lane until an operator acts. skip: the lane goes on.';
comment on column outbox.streams.resend_blind
  is 'Whether an uncertain row on a blind rail is sent again (a double is harmless) or parked.';
comment on column outbox.streams.dedupe_days
  is 'How long an idempotency key is remembered; null: for ever. Never shorter than the archive.';
comment on column outbox.streams.forget_minutes
  is 'So long after a row has expired it is given up, if it is not finished, and its payload is erased; '
     'null: payloads are kept as long as the archive.';
-- Our own functions write what nobody else may: an instruction that a stranger had used up would stop a decision.
comment on column outbox.streams.writers
  is 'Roles that may enqueue here; null: whoever may call outbox.enqueue(). Empty: Headroom''s own functions alone, for good.';

-- Rows may only name a rail that stands here, and are written before any relay has declared its rails. Hence the registrations; a relay
-- that has a rail declares it again when it starts, with the same values.
create table outbox.rails (
  rail_id smallint generated always as identity primary key,
  name text not null unique check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
  capability text not null check (capability in ('idempotent', 'lookup', 'blind')),
  timeout_ms integer not null check (timeout_ms between 1 and 30000),
  dedup_window_ms bigint check (dedup_window_ms > 0),
  registered_at timestamptz not null default now(),
  served_at timestamptz
);
comment on table outbox.rails is 'What each rail can prove. A row may only name a rail that stands here.';
comment on column outbox.rails.served_at is 'When a relay that serves it last showed a sign of life; null: never.';

-- What a row that says how things stand is rendered by, at the moment when it is sent. Written by the migrator alone: whoever could
-- write here could run any function as the owner. A renderer reads everything as the owner, so it works for rows of the stream that it
-- was made for and for no others.
create table outbox.renderers (
  name text primary key check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
  stream_id smallint not null references outbox.streams,
  function_name text not null check (function_name ~ '^[a-z_]+\.[a-z_]+$')
);
create index renderers_stream on outbox.renderers (stream_id);
comment on table outbox.renderers
  is 'Functions (jsonb) returns jsonb that make the payload of a row when it is sent, by the name that its binds use.';

-- Which rails somebody serves: rows for a rail that nobody serves wait without a word, and a relay on demand is on this list only while
-- it works.
create table outbox.relays (
  relay_id integer generated always as identity primary key,
  name text not null,
  rails text[],
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  wants_notify boolean not null default true
) with (fillfactor = 50);
comment on column outbox.relays.rails is 'The rails that it serves; null: it did not say.';
comment on column outbox.relays.wants_notify is 'False while the relay is busy: it will look anyway, and NOTIFY serialises commits.';

reset role;
