-- The append-only archive: every line of what happened to every row.
create type outbox.attempt_state as enum (
  'DISPATCHING', 'DISPATCHED', 'RETRYABLE', 'FAILED', 'ZOMBIE_REQUEUE', 'RELEASED', 'SKIPPED', 'REDRIVEN', 'RESOLVED'
);

-- Partitioned by class, then by range of the outbox id (whose first bytes are a time): this is the only partitioning
-- under which (outbox_id, attempt_no) can be unique. class_id is a function of outbox_id, and the check says so, which
-- makes the wider key exactly as strict as the narrow one.
create table outbox.attempts (
  outbox_id uuid not null,
  attempt_no integer not null check (attempt_no > 0),
  class_id smallint not null check (class_id = get_byte(uuid_send(outbox_id), 7)),
  stream_id smallint not null,
  state outbox.attempt_state not null,
  relay_id integer,
  claim_id bigint,
  recorded_at timestamptz not null default clock_timestamp(),
  latency_ms integer,
  uncertain boolean not null default false,
  out_of_order boolean not null default false,
  payload_hash bytea,
  rail_reference text,
  rail_code text,
  error_code text,
  error_message text,
  actor text,
  reason text,
  primary key (outbox_id, attempt_no, class_id)
) partition by list (class_id);
comment on table outbox.attempts is 'What happened, line by line. Nobody updates, deletes or truncates it; old partitions are dropped whole.';
comment on column outbox.attempts.uncertain is 'On an outcome line: the call may have arrived although this line does not say so.';

-- What a claim hands to a relay, one per row, in the order in which a lane's rows must go out.
create type outbox.claimed_row as (
  claim_id bigint,
  lane_id bigint,
  seq bigint,
  outbox_id uuid,
  attempt_no integer,
  tries smallint,
  uncertain boolean,
  rail_id smallint,
  key text,
  instruction_id text,
  idempotency_key text,
  payload jsonb,
  destination_id integer,
  destination text,
  sent_ago_ms bigint,
  captures jsonb,
  binds jsonb
);
comment on type outbox.claimed_row is 'A row that a claim hands to a relay. Nullable: lane_id, seq, key, destination_id, destination, sent_ago_ms, captures, binds.';

-- A row on its way through a claim: what the archive and the lease need of it. Its payload is read at the very end.
create type outbox.run_row as (
  lane_id bigint,
  place tid,
  seq bigint,
  outbox_id uuid,
  line integer,
  tries smallint,
  uncertain boolean,
  first_sent_at timestamptz,
  payload_hash bytea
);

-- A lane whose results are being settled: its head as it was locked, and what the results say about it. The head's place is
-- kept so that it is looked up once: while an old transaction is open, its index entries pile up with every step.
create type outbox.fenced_lane as (
  lane_id bigint,
  place tid,
  claim_id bigint,
  head_seq bigint,
  claimed_to bigint,
  rewind_to bigint,
  to_seq bigint,
  delivered bigint,
  whole boolean
);
comment on type outbox.fenced_lane is 'A lane under settlement. Nullable: rewind_to, to_seq.';
