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
  sent_hash bytea,
  rail_reference text,
  rail_code text,
  error_code text,
  error_message text,
  actor text,
  reason text,
  primary key (outbox_id, attempt_no, class_id)
) partition by list (class_id);
comment on table outbox.attempts
  is 'What happened, line by line. Nobody updates, deletes or truncates it; old partitions are dropped whole.';
comment on column outbox.attempts.uncertain is 'On an outcome line: the call may have arrived although this line does not say so.';
-- Where nothing was bound or rendered that is the stored text, whose hash the DISPATCHING line has.
comment on column outbox.attempts.sent_hash
  is 'On the outcome of a call, where something was bound or rendered: hash of the text that went out, salted like payload_hash. '
     'Null: the stored text went out.';
