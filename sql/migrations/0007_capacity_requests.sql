-- The requests: their append-only events, the projection of these, and what hangs on them.

create sequence capacity.request_numbers as bigint;

-- The projection. Written by capacity.apply() alone, and always equal to the fold of the events.
create table capacity.requests (
  id text primary key,
  workspace_id text not null references capacity.workspaces,
  version integer not null default 0,
  state public.capacity_request_state not null default 'SUBMITTED',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  state_since timestamptz not null,
  requester_user_id text not null,
  commercial_owner_user_id text,
  infra_owner_group text,
  requested_size text not null,
  quantity integer not null,
  region text not null,
  needed_by_date date,
  expected_duration_days integer,
  estimated_monthly_cost_usd numeric,
  confirmation_ttl_days integer not null default 7,
  slack_channel_id text,
  replaces_request_id text references capacity.requests,
  customer_hash bytea,
  review_plan jsonb not null default '{}',
  commercial_endorsed_at timestamptz,
  commercial_endorsed_by text,
  commercial_approved_at timestamptz,
  commercial_approved_by text,
  technical_approved_at timestamptz,
  technical_approved_by text,
  next_deadline_at timestamptz,
  confirmation_token_id uuid,
  rejection_reason_hash bytea,
  cancellation_reason_hash bytea,
  cancellation_authorizer_user_id text,
  head_hash bytea
) with (fillfactor = 80);
create index requests_requester on capacity.requests (workspace_id, requester_user_id, id desc);
create index requests_commercial on capacity.requests (workspace_id, commercial_owner_user_id, id desc);
create index requests_infra on capacity.requests (workspace_id, infra_owner_group, id desc);
create index requests_deadline on capacity.requests (next_deadline_at) where next_deadline_at is not null;
create index requests_open on capacity.requests (workspace_id, state, state_since) where state in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING');
comment on table capacity.requests is 'Current state of each request: the fold of its events, written by the reducer alone.';
comment on column capacity.requests.version is 'How many events there are.';
comment on column capacity.requests.review_plan is 'Who must approve and by which rule, as the policies stood at submission.';
comment on column capacity.requests.customer_hash is 'Salted hash of customer_ref, which is kept apart in personal_data so that it can be erased.';
comment on column capacity.requests.rejection_reason_hash is 'Of the reason in free_texts; the same for cancellation_reason_hash.';
comment on column capacity.requests.head_hash is 'Hash of the last event: the head of the chain.';

-- The log. Numbered per request without gaps by the row lock on the request; each hash covers the one before.
create table capacity.events (
  request_id text not null references capacity.requests,
  seq integer not null check (seq > 0),
  id uuid not null,
  event_type public.capacity_request_event_type not null,
  actor_type public.capacity_request_actor_type not null,
  actor_id text not null,
  via text not null,
  state_before public.capacity_request_state not null,
  state_after public.capacity_request_state not null,
  payload jsonb not null,
  effects text[] not null,
  created_at timestamptz not null,
  hash bytea not null,
  primary key (request_id, seq)
);
comment on table capacity.events is 'Append-only, for everybody.';
comment on column capacity.events.payload is 'Facts. What people wrote in their own words stands in free_texts; here is its hash, as reason_hash or error_hash.';
comment on column capacity.events.via is 'The entrance: slack, web, api, cli:<login>, service:<key id>, link, cron, callback.';
comment on column capacity.events.effects is 'The side effects that this event named; each is one outbox row with instruction <request>#<seq> and this idempotency key.';
comment on column capacity.events.hash is 'SHA-256 over the hash before and the canonical form of this event.';

-- What may have to be erased. Events hold a salted hash of it, so that erasing leaves the chain whole.
create table capacity.personal_data (
  request_id text primary key references capacity.requests,
  salt bytea,
  customer_ref jsonb,
  erased_at timestamptz,
  check ((erased_at is null) = (salt is not null))
);
comment on table capacity.personal_data is 'customer_ref of each request; with the salt gone, the hash in the log says nothing about it.';

-- What people wrote in their own words: reasons, the bodies of notes, errors of provisioning. Anybody may be named in it, so it can be
-- erased too. Events and notices hold the hash, by which it is found.
create table capacity.free_texts (
  request_id text not null references capacity.requests,
  hash bytea not null,
  salt uuid,
  content jsonb,
  created_at timestamptz not null default clock_timestamp(),
  primary key (request_id, hash),
  check ((salt is null) = (content is null))
);
comment on table capacity.free_texts is 'Words of people in the log of a request, apart from it. Salt and content are null once they were erased.';
comment on column capacity.free_texts.hash is 'SHA-256 over the salt and the text of the content.';

-- Who asked for a customer to be erased, and how far that has come.
create table capacity.erasures (
  request_id text primary key references capacity.requests,
  requested_at timestamptz not null,
  requested_by text not null,
  via text not null,
  why text not null,
  covers_to timestamptz not null,
  texts integer not null default 0,
  messages integer not null default 0,
  skipped integer not null default 0,
  waiting integer not null default 0,
  tried_at timestamptz not null,
  finished_at timestamptz
);
create index erasures_open on capacity.erasures (tried_at) where finished_at is null;
comment on table capacity.erasures is 'Erasures of customers. One that is not finished waits for messages that are on their way; the sweep finishes it.';
comment on column capacity.erasures.covers_to is 'What was said about the request later than this is not part of the erasure.';
comment on column capacity.erasures.waiting is 'Messages that could not be erased yet when it was last tried.';

create table capacity.submissions (
  workspace_id text not null,
  idempotency_key text not null check (length(idempotency_key) between 1 and 200),
  request_id text not null,
  fingerprint bytea not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, idempotency_key)
);
create index submissions_request on capacity.submissions (request_id);
comment on table capacity.submissions is 'Idempotency keys of create_capacity_request: the insert decides.';

create table capacity.confirmation_tokens (
  id uuid primary key,
  request_id text not null unique references capacity.requests,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  used_for public.capacity_request_event_type
);
comment on table capacity.confirmation_tokens is 'The customer''s single-use links. The token itself is an HMAC over the id, made at the moment of sending and kept nowhere.';

-- What is said about a request without changing it.
create table capacity.notices (
  id bigint generated always as identity primary key,
  request_id text not null references capacity.requests,
  kind text not null check (kind in ('warning', 'reminder', 'late', 'nudge', 'note')),
  step text check (step in ('commercial', 'technical', 'confirmation')),
  member_id text,
  actor_type public.capacity_request_actor_type not null,
  actor_id text not null,
  via text not null,
  body_hash bytea,
  effects text[] not null default '{}',
  created_at timestamptz not null default now()
);
create index notices_request on capacity.notices (request_id, kind, created_at);
create unique index notices_one_warning on capacity.notices (request_id) where kind = 'warning';
comment on column capacity.notices.body_hash is 'Of the body in free_texts.';
comment on table capacity.notices is 'Warnings, reminders, nudges and notes. Append-only; side effects have instruction <request>!<id>.';

create table capacity.timer_failures (
  request_id text not null,
  timer text not null,
  failures integer not null default 1,
  error_code text not null,
  message text not null,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  retry_at timestamptz not null,
  primary key (request_id, timer)
);
comment on table capacity.timer_failures is 'Requests on which a timer failed: each is left alone for a while, and none stops the others.';

create table capacity.secrets (
  name text primary key check (name ~ '^[A-Z][A-Z0-9_]{0,62}$'),
  encrypted bytea not null,
  updated_at timestamptz not null default now()
);
comment on table capacity.secrets is 'Secrets of a database without Vault, encrypted under a key that only the environment holds.';

-- Who acts, and through which entrance, once that is established.
create type capacity.actor as (
  type public.capacity_request_actor_type,
  id text,
  via text
);

-- Who hears of the workflow's events: endpoints of the rail `webhook`, by name.
create table capacity.subscriptions (
  workspace_id text not null references capacity.workspaces,
  endpoint text not null check (endpoint ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  event_types public.capacity_request_event_type[],
  enabled boolean not null default true,
  created_at timestamptz not null default now(),
  primary key (workspace_id, endpoint)
);
comment on table capacity.subscriptions is 'Endpoints that get the events of a workspace as CloudEvents. Null types: all of them.';
