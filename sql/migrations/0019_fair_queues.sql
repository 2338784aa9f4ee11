-- Nobody waits for anybody: producers write nothing that relays lock, relays wait for no lock, and every destination and tenant has a
-- queue of its own, so that one which answers slowly holds up itself alone.

-- Whoever changes tables under running producers and relays takes all that the migrations from here on change, before anything else, in the
-- order in which they take them: what belongs to requests first, then the outbox. Otherwise each would hold what the other wants.
lock table capacity.requests, capacity.notices, capacity.confirmation_tokens, capacity.policies, capacity.identity_domains, capacity.api_keys,
  outbox.streams, outbox.rails, outbox.relays, outbox.destinations, outbox.dedupe, outbox.lanes, outbox.pending, outbox.heads, outbox.payloads,
  outbox.pending_unordered, outbox.claims in access exclusive mode;

-- What a producer names is written down once, and never changed. Two who name the same thing for the first time do not wait for each
-- other: then it stands here twice. Its number is a queue; what is known about the receiver is kept by its name.
create table outbox.limits (
  name text primary key check (length(name) between 1 and 200),
  min_interval_ms integer check (min_interval_ms between 0 and 86400000),
  failure_threshold integer check (failure_threshold > 0),
  open_base_ms integer check (open_base_ms between 1 and 3600000),
  clears integer not null default 0,
  changed_at timestamptz not null default now()
);
comment on table outbox.limits
  is 'How destinations are treated, as operators say: by name, by kind ("slack:" for all that begin so), and "*" for the rest. Relays read it and lock nothing.';
comment on column outbox.limits.min_interval_ms is 'Least time between two sends. Null, here and in the next two: as the kind says, else as "*" says.';
comment on column outbox.limits.failure_threshold is 'Failures in a row that open the circuit.';
comment on column outbox.limits.open_base_ms is 'How long it is open the first time; twice as long each time after.';
comment on column outbox.limits.clears is 'How often what relays found out was declared void; what they found out under another number does not count.';
insert into outbox.limits (name, min_interval_ms, failure_threshold, open_base_ms) values ('*', 0, 5, 15000);
-- Slack takes about one message a second per channel.
insert into outbox.limits (name, min_interval_ms) values ('slack:', 1000);
insert into outbox.limits (name, min_interval_ms, failure_threshold, open_base_ms)
select d.name, nullif(d.min_interval_ms, case when starts_with(d.name, 'slack:') then 1000 else 0 end), nullif(d.failure_threshold, 5), nullif(d.open_base_ms, 15000)
  from outbox.destinations d
 where d.min_interval_ms <> case when starts_with(d.name, 'slack:') then 1000 else 0 end or d.failure_threshold <> 5 or d.open_base_ms <> 15000;

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
comment on table outbox.gates is 'What relays found out about destinations. Written under an advisory lock that is tried for and never waited for.';
comment on column outbox.gates.next_slot_at is 'No send before this time (rate limit, Retry-After).';
comment on column outbox.gates.open_until is 'Circuit open until then; afterwards one probe is let through.';
comment on column outbox.gates.probe_until is 'A probe is under way until then at the latest.';
insert into outbox.gates (name, next_slot_at, failures, times_opened, open_until, last_error_code)
select d.name, d.next_slot_at, d.failures, d.times_opened, d.open_until, d.last_error_code from outbox.destinations d
 where d.next_slot_at > now() or d.failures > 0 or d.open_until is not null or d.last_error_code is not null;

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
comment on table outbox.gate_notes is 'What settles have to say about destinations, until somebody has the gate: a settle writes its note and waits for nobody.';

drop function if exists outbox.admit(integer[], boolean[], integer), outbox.destination_id(text), capacity.slack_limit(text);
alter table outbox.destinations drop constraint destinations_name_key;
alter table outbox.destinations
  drop column min_interval_ms, drop column next_slot_at, drop column tail_at, drop column failures, drop column failure_threshold, drop column open_base_ms,
  drop column open_until, drop column probe_until, drop column times_opened, drop column last_error_code, drop column changed_at,
  add column tenant_id text;
create index destinations_by_name on outbox.destinations (name, tenant_id, destination_id);
comment on table outbox.destinations is 'Where rows go, and whose they are: each number is a queue. Producers add to it and change nothing.';
comment on column outbox.destinations.tenant_id is 'Whose rows these are; null: the installation''s. Tenants that use one receiver have queues of their own.';
-- What waits keeps its number; from now on each tenant gets its own.

-- The queue in which a lane stands is that of its first row; nought for rows that go nowhere in particular.
alter table outbox.heads add column destination_id integer not null default 0, drop column deferred;
update outbox.heads h set destination_id = coalesce(p.destination_id, 0) from outbox.pending p where p.lane_id = h.lane_id and p.seq = h.head_seq;
drop index outbox.heads_due;
create index heads_due on outbox.heads (stream_id, destination_id, priority, due) where claim_id is null and not blocked;
update outbox.pending_unordered u set destination_id = 0 where u.destination_id is null;
alter table outbox.pending_unordered alter column destination_id set default 0, alter column destination_id set not null, drop column deferred;
drop index outbox.pending_unordered_due;
create index pending_unordered_due on outbox.pending_unordered (stream_id, destination_id, priority, due);

-- How much a claim brings into memory is bounded by what its rows weigh, which is known without reading them.
alter table outbox.payloads add column bytes integer not null default 0;
alter table outbox.pending add column bytes integer not null default 0;
alter table outbox.pending_unordered add column bytes integer not null default 0;
-- Of what is finished nobody asks any more.
update outbox.payloads m set bytes = octet_length(m.payload::text)
 where m.payload is not null
   and m.outbox_id in (select p.outbox_id from outbox.pending p
                       union all select u.outbox_id from outbox.pending_unordered u
                       union all select x.outbox_id from outbox.dead x
                       union all select o.outbox_id from outbox.claims c cross join lateral unnest(c.outbox_ids) o(outbox_id));
update outbox.pending p set bytes = m.bytes from outbox.payloads m where m.outbox_id = p.outbox_id;
update outbox.pending_unordered u set bytes = m.bytes from outbox.payloads m where m.outbox_id = u.outbox_id;
comment on column outbox.payloads.bytes is 'Length of the payload''s text.';
alter type outbox.run_row add attribute bytes integer;

-- Signatures that change.
drop function if exists outbox.check_row(outbox.streams, text, text, smallint, text, text, text, text, jsonb, integer, text, text, jsonb, jsonb);
drop function if exists outbox.why_not_enqueued(text, text, text, text, text, text, jsonb, integer, text, text, jsonb, jsonb);
drop function if exists outbox.too_deep(jsonb), outbox.may_write(name[], text);
drop function if exists outbox.add_row(text, text, text, text, text, text, text, jsonb, integer, timestamptz, timestamptz, text, text, jsonb, jsonb);
drop function if exists outbox.add_rows(text, jsonb);
drop function if exists outbox.claim(integer, smallint, integer, integer, bigint), outbox.next_due(smallint[]);
drop function if exists outbox.claim_special_lanes(bigint, integer, outbox.streams, bigint[]), outbox.claim_special_rows(bigint, integer, outbox.streams, uuid[]);
drop function if exists outbox.settle(
  smallint, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[], text[], bigint[], boolean[], boolean[], integer[], jsonb, bytea[]);
drop function if exists outbox.late_in_lanes(bigint[], bigint[], bigint[], bigint[], uuid[]);
drop function if exists outbox.late_rows(outbox.streams, bigint[], bigint[], uuid[], integer[]);
drop function if exists outbox.lock_lanes(bigint[]);
drop function if exists outbox.destination_status();
