-- Where rows go, how destinations are treated, and what relays found out about them. Nobody waits for anybody: producers write nothing
-- that relays lock, relays wait for no lock, and every destination and tenant has a queue of its own, so that one which answers slowly
-- holds up itself alone.

-- What a producer names is written down once, and never changed. Two who name the same thing for the first time do not wait for each
-- other: then it stands here twice. Its number is a queue; what is known about the receiver is kept by its name.
create table outbox.destinations (
  destination_id integer generated always as identity primary key,
  name text not null check (length(name) between 1 and 200),
  tenant_id text
) with (fillfactor = 50);
create index destinations_by_name on outbox.destinations (name, tenant_id, destination_id);
comment on table outbox.destinations
  is 'Where rows go, and whose they are: each number is a queue. Producers add to it and change nothing.';
comment on column outbox.destinations.tenant_id
  is 'Whose rows these are; null: the installation''s. Tenants that use one receiver have queues of their own.';

create table outbox.limits (
  name text primary key check (length(name) between 1 and 200),
  min_interval_ms integer check (min_interval_ms between 0 and 86400000),
  failure_threshold integer check (failure_threshold > 0),
  open_base_ms integer check (open_base_ms between 1 and 3600000),
  clears integer not null default 0,
  changed_at timestamptz not null default now()
);
comment on table outbox.limits
  is 'How destinations are treated, as operators say: by name, by kind ("slack:" for all that begin so), and "*" for the rest. '
     'Relays read it and lock nothing.';
comment on column outbox.limits.min_interval_ms
  is 'Least time between two sends. Null, here and in the next two: as the kind says, else as "*" says.';
comment on column outbox.limits.failure_threshold is 'Failures in a row that open the circuit.';
comment on column outbox.limits.open_base_ms is 'How long it is open the first time; twice as long each time after.';
comment on column outbox.limits.clears
  is 'How often what relays found out was declared void; what they found out under another number does not count.';
insert into outbox.limits (name, min_interval_ms, failure_threshold, open_base_ms) values ('*', 0, 5, 15000);

-- Kept in the database, so that any number of relays together keep one limit.
create table outbox.gates (
  name text primary key,
  next_slot_at timestamptz not null default '-infinity',
  failures integer not null default 0,
  times_opened integer not null default 0,
  open_until timestamptz,
  probe_until timestamptz,
  last_error_code text,
  clears integer not null default 0,
  changed_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
comment on table outbox.gates
  is 'What relays found out about destinations. Written under an advisory lock that is tried for and never waited for.';
comment on column outbox.gates.next_slot_at is 'No send before this time (rate limit, Retry-After).';
comment on column outbox.gates.open_until is 'Circuit open until then; afterwards one probe is let through.';
comment on column outbox.gates.probe_until is 'A probe is under way until then at the latest.';

create table outbox.gate_notes (
  note_id bigint generated always as identity primary key,
  name text not null,
  failed integer not null,
  answered integer not null,
  throttled boolean not null,
  quiet_ms bigint,
  code text,
  clears integer not null default 0,
  noted_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
create index gate_notes_by_name on outbox.gate_notes (name, note_id);
comment on table outbox.gate_notes
  is 'What settles have to say about destinations, until somebody has the gate: a settle writes its note and waits for nobody.';
