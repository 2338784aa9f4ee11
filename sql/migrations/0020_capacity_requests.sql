-- The requests: their append-only events, and the projection of these.
create sequence capacity.request_numbers as bigint;

-- The projection. Written by capacity.apply() alone, and always equal to the fold of the events.
create table capacity.requests (
  id text primary key,
  workspace_id text not null references directory.workspaces,
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
comment on table capacity.requests is 'Current state of each request: the fold of its events, written by the reducer alone.';
comment on column capacity.requests.version is 'How many events there are.';
comment on column capacity.requests.customer_hash
  is 'Salted hash of customer_ref, which is kept apart in personal_data so that it can be erased.';
comment on column capacity.requests.review_plan is 'Who must approve and by which rule, as the policies stood at submission.';
comment on column capacity.requests.rejection_reason_hash is 'Of the reason in free_texts; the same for cancellation_reason_hash.';
comment on column capacity.requests.head_hash is 'Hash of the last event: the head of the chain.';

create index requests_deadline on capacity.requests (next_deadline_at) where next_deadline_at is not null;
create index requests_open on capacity.requests (workspace_id, state, state_since)
  where state in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING');
create index requests_replaced on capacity.requests (replaces_request_id) where replaces_request_id is not null;
-- The newest requests of a workspace. Ids do not sort by age: they grow a digit one day.
create index requests_recent on capacity.requests (workspace_id, created_at desc, id desc);
-- Who may see a request: whoever asked for it, owns a side of it, or has to approve it.
create index requests_requester on capacity.requests (workspace_id, requester_user_id, id desc);
create index requests_commercial on capacity.requests (workspace_id, commercial_owner_user_id, id desc);
create index requests_infra on capacity.requests (workspace_id, infra_owner_group, id desc);
create index requests_authority_role on capacity.requests (workspace_id, (review_plan #>> '{commercial,authority,role}'))
  where review_plan #>> '{commercial,authority,kind}' = 'role';
create index requests_authority_member on capacity.requests (workspace_id, (review_plan #>> '{commercial,authority,member}'))
  where review_plan #>> '{commercial,authority,kind}' = 'member';

-- The log. Numbered per request without gaps by the row lock on the request; each hash covers the one before. Events know their
-- workspace, so that reading one's own takes no longer for what others do: read by its time alone, whoever asked for a day could tell
-- by the clock how much had happened to everybody.
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
  workspace_id text not null,
  primary key (request_id, seq)
);
comment on table capacity.events is 'Append-only, for everybody.';
comment on column capacity.events.via is 'The entrance: slack, web, api, cli:<login>, service:<key id>, link, cron, callback.';
comment on column capacity.events.payload
  is 'Facts. What people wrote in their own words stands in free_texts; here is its hash, as reason_hash or error_hash.';
comment on column capacity.events.effects
  is 'The side effects that this event named; each is one outbox row with instruction <request>#<seq> and this idempotency key.';
comment on column capacity.events.hash is 'SHA-256 over the hash before and the canonical form of this event.';
comment on column capacity.events.workspace_id
  is 'The request''s, for finding the event. Not in the hash: the submission has it in its payload.';

-- The events of a span of time, with all that the metrics want to know of them, so that they need not look at the log itself. On the
-- time as it is and not on the day as an expression: under row-level security only comparisons that cannot leak may use an index, and
-- these are among them.
create index events_by_time on capacity.events
  (workspace_id, created_at, request_id, seq, state_before, state_after, event_type);
-- The approvals among them, because what the latency of approvals leaves out stands in the payload.
create index events_approved on capacity.events (workspace_id, created_at, request_id, event_type, state_after, actor_type)
  where event_type in ('COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED') and payload -> 'counts' is distinct from 'false';
-- For the server, which follows what happens to all.
create index events_recent on capacity.events (created_at);

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
