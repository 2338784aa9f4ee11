-- What a relay holds while it sends: the lease, and the shapes of rows on their way through a claim and a settle.
create sequence outbox.claim_ids as bigint;

-- The lease. One small row per claim, so that finding expired ones never grows with the archive.
create table outbox.claims (
  claim_id bigint primary key,
  stream_id smallint not null,
  relay_id integer not null,
  claimed_at timestamptz not null default now(),
  lease_until timestamptz not null,
  open integer not null,
  lane_ids bigint[],
  outbox_ids uuid[],
  lines integer[],
  tries smallint[],
  uncertain boolean[],
  first_sent_at timestamptz[]
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0
);
-- Compressing what lives for seconds is wasted work. Only from PostgreSQL 16 on could the table itself say so.
alter table outbox.claims
  alter column outbox_ids set storage external,
  alter column lane_ids set storage external,
  alter column lines set storage external,
  alter column tries set storage external,
  alter column first_sent_at set storage external;
comment on column outbox.claims.open is 'Lanes (ordered) or rows (unordered) of this claim that are not settled yet.';
comment on column outbox.claims.tries
  is 'What rows without order had been through before, in the order of outbox_ids; null when all are new.';

-- What a claim hands to a relay, one per row, in the order in which a lane's rows must go out. The body is the text that Postgres
-- holds; taken apart and put together again, long numbers came out as others.
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
  body text,
  destination_id integer,
  destination text,
  sent_ago_ms bigint,
  captures text,
  has_binds boolean,
  tenant_id text
);
comment on type outbox.claimed_row
  is 'A row that a claim hands to a relay. Nullable: lane_id, seq, key, destination_id, destination, sent_ago_ms, captures, tenant_id.';

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
  payload_hash bytea,
  bytes integer
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

-- What a relay tells a settle of one row. One value for each row: parallel arrays would be one mistake away from telling one row's
-- outcome of another.
create type outbox.row_outcome as (
  claim_id bigint,
  lane_id bigint,
  seq bigint,
  outbox_id uuid,
  attempt_no integer,
  latency_ms integer,
  kind text,
  code text,
  reference text,
  message text,
  after_ms bigint,
  throttled boolean,
  absent boolean,
  destination_id integer,
  captured jsonb,
  sent_hash bytea
);
comment on type outbox.row_outcome
  is 'What became of one claimed row. Nullable: lane_id, seq, latency_ms, kind, code, reference, message, after_ms, throttled, absent, '
     'destination_id, captured, sent_hash.';
comment on column outbox.row_outcome.attempt_no is 'The number of the line that the claim wrote.';
comment on column outbox.row_outcome.kind is 'delivered, retry, unknown, rejected or released; null for delivered.';
comment on column outbox.row_outcome.code is 'The receiver''s code of a delivery, the error code of everything else.';
comment on column outbox.row_outcome.throttled is 'Whether the whole destination asked for a pause.';
comment on column outbox.row_outcome.absent is 'Whether a lookup said that an earlier try never arrived.';
comment on column outbox.row_outcome.captured is 'What a delivery keeps of its answer, by name.';
comment on column outbox.row_outcome.sent_hash
  is 'Of a row whose text was made when it was sent, as outbox.fill_binds() said; null for one that went out as it is stored.';
