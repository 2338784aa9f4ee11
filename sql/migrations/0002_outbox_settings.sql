-- What the engine is told: retention classes, streams, rails, destinations; and who is running it.

-- How long the archive of a stream is kept. The class is part of every outbox id (its eighth byte), which is what lets
-- the archive be partitioned by class and time and still number attempts uniquely per row.
create table outbox.retention_classes (
  class_id smallint primary key check (class_id between 1 and 255),
  name text not null unique check (name ~ '^[a-z][a-z0-9_]{0,30}$'),
  retain_days integer check (retain_days > 0),
  partition_days integer not null check (partition_days between 1 and 366)
);
comment on table outbox.retention_classes is 'How long archive lines and payloads are kept, and how wide a partition is. Null days: for ever.';

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
  created_at timestamptz not null default now(),
  check (ordered or on_dead = 'skip'),
  check (not (carries_money and resend_blind))
);
comment on table outbox.streams is 'A named outbox and its settings.';
comment on column outbox.streams.on_dead is 'block: a dead row holds its lane until an operator acts. skip: the lane goes on.';
comment on column outbox.streams.resend_blind is 'Whether an uncertain row on a blind rail is sent again (a double is harmless) or parked.';
comment on column outbox.streams.dedupe_days is 'How long an idempotency key is remembered; null: for ever. Never shorter than the archive.';

create table outbox.rails (
  rail_id smallint generated always as identity primary key,
  name text not null unique check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
  capability text not null check (capability in ('idempotent', 'lookup', 'blind')),
  timeout_ms integer not null check (timeout_ms between 1 and 30000),
  dedup_window_ms bigint check (dedup_window_ms > 0),
  registered_at timestamptz not null default now()
);
comment on table outbox.rails is 'What each rail can prove. A row may only name a rail that stands here.';

-- What a row that says how things stand is rendered by, at the moment when it is sent. Written by migrations alone: whoever could
-- write here could run any function as the owner.
create table outbox.renderers (
  name text primary key check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
  function_name text not null check (function_name ~ '^[a-z_]+\.[a-z_]+$')
);
comment on table outbox.renderers is 'Functions (jsonb) returns jsonb that make the payload of a row when it is sent, by the name that its binds use.';

-- A destination exists once somebody names it. Its slots and its circuit are kept here, in the database, so that any
-- number of relays together keep one limit.
create table outbox.destinations (
  destination_id integer generated always as identity primary key,
  name text not null unique check (length(name) between 1 and 200),
  min_interval_ms integer not null default 0 check (min_interval_ms between 0 and 86400000),
  next_slot_at timestamptz not null default '-infinity',
  tail_at timestamptz not null default '-infinity',
  failures integer not null default 0,
  failure_threshold integer not null default 5 check (failure_threshold > 0),
  open_base_ms integer not null default 15000 check (open_base_ms between 1 and 3600000),
  open_until timestamptz,
  probe_until timestamptz,
  times_opened integer not null default 0,
  last_error_code text,
  changed_at timestamptz not null default now()
) with (fillfactor = 50);
comment on column outbox.destinations.next_slot_at is 'No send before this time (rate limit, Retry-After).';
comment on column outbox.destinations.tail_at is 'Where the queue of deferred rows ends, so that latecomers wait behind and not beside.';
comment on column outbox.destinations.open_until is 'Circuit open until then; afterwards one probe is let through.';
comment on column outbox.destinations.probe_until is 'A probe is under way until then at the latest; others wait a second at a time.';

create table outbox.relays (
  relay_id integer generated always as identity primary key,
  name text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  wants_notify boolean not null default true
) with (fillfactor = 50);
comment on column outbox.relays.wants_notify is 'False while the relay is busy: it will look anyway, and NOTIFY serialises commits.';

create sequence outbox.claim_ids as bigint;

insert into outbox.retention_classes (class_id, name, retain_days, partition_days) values
  (1, 'forever', null, 30),
  (2, 'week', 7, 1),
  (3, 'quarter', 90, 7);

-- capacity: twelve tries over most of a day. With full jitter the mean is half of what the powers say.
insert into outbox.streams
  (name, ordered, on_dead, carries_money, resend_blind, max_tries, backoff_factor, backoff_cap_ms, class_id, dedupe_days) values
  ('capacity',      true,  'skip',  false, true,  12, 3, 28800000, 1, null),
  ('notifications', false, 'skip',  false, true,   5, 2,  3600000, 3, 180),
  ('payments',      true,  'block', true,  false,  8, 2,  3600000, 1, null),
  ('transfers',     true,  'skip',  false, true,   5, 2,  3600000, 2, 90),
  ('ledger',        true,  'block', false, true,   5, 2,  3600000, 2, 90);
