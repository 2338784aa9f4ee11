-- run as: migrator
-- Provisioning: from a confirmed request to running capacity, by runs of workflows at GitHub. The migrator makes the schema, which needs a
-- right on the database; everything else is made as the owner.
create schema provisioning authorization headroom_owner;
comment on schema provisioning
  is 'Provisioning: jobs, the attempts to carry them out, what their runs report, and the sweep that looks after them. Private.';

set local role headroom_owner;

create type public.provisioning_job_status as enum ('queued', 'provisioning', 'running', 'failed');

-- Where a workspace's workflows are, and how long things may take.
create table provisioning.settings (
  workspace_id text primary key references directory.workspaces,
  owner text not null check (owner ~ '^[A-Za-z0-9_-]{1,60}$'),
  repo text not null check (repo ~ '^[A-Za-z0-9_.-]{1,100}$'),
  ref text not null default 'main' check (ref ~ '^[A-Za-z0-9_./-]{1,200}$'),
  provision_workflow text not null default 'provision.yml' check (provision_workflow ~ '^[A-Za-z0-9_.-]{1,100}$'),
  cleanup_workflow text not null default 'cleanup.yml' check (cleanup_workflow ~ '^[A-Za-z0-9_.-]{1,100}$'),
  callback_url text check (callback_url ~ '^https?://[^\s]+$' and length(callback_url) <= 500),
  stale_minutes integer not null default 10 check (stale_minutes between 1 and 1440),
  limit_minutes integer not null default 15 check (limit_minutes between 1 and 10080),
  most_attempts smallint not null default 3 check (most_attempts between 1 and 20),
  most_cleanups smallint not null default 3 check (most_cleanups between 1 and 20),
  retry_sla_hours integer not null default 24 check (retry_sla_hours between 1 and 8760),
  give_up_hours integer not null default 72 check (give_up_hours between 1 and 8760),
  updated_at timestamptz not null default now(),
  check (limit_minutes >= stale_minutes),
  check (give_up_hours >= retry_sla_hours)
);
comment on table provisioning.settings is 'The repository whose workflows provide a workspace''s capacity, and how long they may take.';
comment on column provisioning.settings.callback_url
  is 'Where runs report to. Null: /webhooks/provisioning below the workspace''s public address.';
comment on column provisioning.settings.stale_minutes is 'After this long without a sign of life an attempt is given up.';
comment on column provisioning.settings.limit_minutes is 'An attempt is given up this long after it was claimed, whatever it says.';
comment on column provisioning.settings.retry_sla_hours is 'A failed job that nobody retries is reported as late after this time.';
comment on column provisioning.settings.give_up_hours is 'A failed job that nobody retries fails for good after this time.';

-- One job for each request that was confirmed. `state` is moved by provisioning.record() alone, along provisioning.transitions(); status is
-- what the API calls it.
create table provisioning.jobs (
  id uuid primary key,
  request_id text not null unique references capacity.requests,
  workspace_id text not null,
  customer_key bytea,
  region text not null,
  state text not null default 'waiting'
    check (state in ('waiting', 'queued', 'provisioning', 'failed', 'running', 'given_up', 'cancelled')),
  status public.provisioning_job_status not null generated always as (
    case state when 'waiting' then 'queued'::public.provisioning_job_status when 'queued' then 'queued'::public.provisioning_job_status
               when 'provisioning' then 'provisioning'::public.provisioning_job_status
               when 'running' then 'running'::public.provisioning_job_status
               else 'failed'::public.provisioning_job_status end) stored,
  version integer not null default 0,
  attempts smallint not null default 0,
  most_attempts smallint not null default 3,
  cleanup text not null default 'none' check (cleanup in ('none', 'under_way', 'done', 'failed')),
  adopted boolean not null default false,
  waiting_since timestamptz not null default clock_timestamp(),
  failed_at timestamptz,
  late_told_at timestamptz,
  reminders smallint not null default 0,
  reminded_at timestamptz,
  completed_at timestamptz,
  next_look_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
) with (fillfactor = 80);
-- At most one job of a customer is in progress, whatever else goes wrong.
create unique index jobs_in_progress on provisioning.jobs (workspace_id, customer_key) where state in ('queued', 'provisioning');
-- Whose turn it is next.
create index jobs_dequeue on provisioning.jobs (workspace_id, customer_key, state, waiting_since);
create index jobs_recent on provisioning.jobs (workspace_id, created_at desc, id desc);
create index jobs_newest on provisioning.jobs (created_at desc, id desc);
-- What the sweep has to look at. Jobs that are over and cleaned up are not in it.
create index jobs_looks on provisioning.jobs (next_look_at)
  where state in ('waiting', 'queued', 'provisioning', 'failed') or cleanup in ('under_way', 'failed');
comment on table provisioning.jobs is 'One job for each confirmed request. Kept for ever.';
comment on column provisioning.jobs.customer_key is 'The customer, as a keyed hash; null: nobody knows, and the job waits for no other.';
comment on column provisioning.jobs.version is 'How many events there are.';
comment on column provisioning.jobs.attempts is 'How many attempts to provision were begun.';
comment on column provisioning.jobs.cleanup is 'How cleaning up after the last attempt that failed stands.';
comment on column provisioning.jobs.adopted
  is 'Made for a request that was confirmed before there were jobs: begins when a person says so.';
comment on column provisioning.jobs.next_look_at is 'When the sweep looks at it next.';

-- An attempt is one run of a workflow: to provision, or to clean up after an attempt to provision. Each task counts by itself.
create table provisioning.attempts (
  job_id uuid not null references provisioning.jobs,
  task text not null check (task in ('provision', 'cleanup')),
  number smallint not null check (number > 0),
  workspace_id text not null,
  owner text not null,
  repo text not null,
  workflow text not null,
  status text not null default 'dispatched' check (status in ('dispatched', 'claimed', 'succeeded', 'failed', 'stopped')),
  cleans smallint,
  run_id bigint,
  run_attempt integer,
  run_url text check (length(run_url) <= 500),
  step text check (length(step) <= 200),
  progress smallint check (progress between 0 and 100),
  ended_because text check (ended_because in ('reported', 'run_ended', 'rerun', 'stale', 'time_limit', 'not_dispatched',
                                              'cancelled', 'by_hand')),
  error text check (length(error) <= 4000),
  failed_step text check (length(failed_step) <= 200),
  watches integer not null default 0,
  watched_at timestamptz,
  heard integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  claimed_at timestamptz,
  heartbeat_at timestamptz,
  ended_at timestamptz,
  stop_failed_at timestamptz,
  primary key (job_id, task, number),
  check ((task = 'cleanup') = (cleans is not null)),
  check ((run_id is null) = (run_attempt is null)),
  check ((status in ('dispatched', 'claimed')) = (ended_at is null))
) with (fillfactor = 80);
-- A run has one attempt. Of a workspace: nobody can take another's run by naming it.
create unique index attempts_run on provisioning.attempts (workspace_id, run_id) where run_id is not null;
comment on table provisioning.attempts is 'Each run of a workflow for a job: dispatched, claimed by its first callback, ended.';
comment on column provisioning.attempts.owner is 'Where its run was asked for, with repo and workflow: settings may change meanwhile.';
comment on column provisioning.attempts.stop_failed_at is 'When people were told that its run could not be stopped.';
comment on column provisioning.attempts.cleans is 'Which attempt to provision this one cleans up after.';
comment on column provisioning.attempts.run_id is 'The run that claimed it, with run_attempt: a re-run at GitHub keeps the id.';
comment on column provisioning.attempts.error is 'What the run said went wrong. Erased with the customer''s data.';
comment on column provisioning.attempts.heard is 'How many callbacks came for it; the first few hundred are in provisioning.callbacks.';

-- What happened to a job, in order. The state of the job is the fold of this.
create table provisioning.events (
  job_id uuid not null references provisioning.jobs,
  seq integer not null check (seq > 0),
  event text not null,
  state_before text not null,
  state_after text not null,
  attempt smallint,
  actor_type public.capacity_request_actor_type not null,
  actor_id text not null,
  via text not null,
  reason_hash bytea,
  created_at timestamptz not null default clock_timestamp(),
  primary key (job_id, seq)
);
comment on table provisioning.events is 'The log of each job. Append-only, for everybody.';
comment on column provisioning.events.reason_hash is 'Of what a person wrote, which stands in capacity.free_texts.';

-- Every callback whose signature was right, and what came of it. The insert decides: what came before under this id is a replay.
create table provisioning.callbacks (
  workspace_id text not null,
  id uuid not null,
  job_id uuid,
  task text check (task in ('provision', 'cleanup')),
  attempt smallint,
  run_id bigint,
  run_attempt integer,
  signal text check (signal in ('claim', 'heartbeat', 'succeeded', 'failed')),
  outcome text not null check (outcome in ('accepted', 'repeated', 'stop', 'ignored', 'refused')),
  refusal text check (length(refusal) <= 300),
  received_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, id)
);
create index callbacks_job on provisioning.callbacks (job_id, received_at) where job_id is not null;
create index callbacks_refused on provisioning.callbacks (workspace_id, received_at) where outcome = 'refused';
create index callbacks_forgotten on provisioning.callbacks (received_at) where outcome = 'refused';
comment on table provisioning.callbacks is 'What runs reported, once each. Those of a job are kept with it; refused ones for ninety days.';

-- What runs said they were doing, for `headroom jobs logs`. Bounded for each attempt.
create table provisioning.steps (
  job_id uuid not null,
  task text not null,
  attempt smallint not null,
  n smallint not null,
  at timestamptz not null default clock_timestamp(),
  step text check (length(step) <= 200),
  progress smallint,
  primary key (job_id, task, attempt, n),
  foreign key (job_id, task, attempt) references provisioning.attempts
);
comment on table provisioning.steps is 'The steps that runs named, in order. The names are erased with the customer''s data.';

-- What relays learnt of runs: settling waits for nobody, so it only leaves a line here, and the sweep draws the conclusions.
create table provisioning.sightings (
  id uuid primary key default gen_random_uuid(),
  job_id uuid not null,
  task text not null,
  number smallint not null,
  runs jsonb not null,
  seen_at timestamptz not null default clock_timestamp()
);
create index sightings_job on provisioning.sightings (job_id);
create index sightings_age on provisioning.sightings (seen_at);
comment on table provisioning.sightings is 'What GitHub said about runs, until the sweep has read it.';

reset role;
