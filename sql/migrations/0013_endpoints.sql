-- run as: migrator
-- Who hears of events: endpoints, their secrets, and the envelopes that applications publish to them. The migrator makes the
-- schema, which needs a right on the database; everything else is made as the owner.
create schema if not exists ledger authorization headroom_owner;
comment on schema ledger is 'The ledger''s events: a named view over the delivery engine.';

set local role headroom_owner;

-- The name of an endpoint is the destination of its rows, so rate limits and circuits apply to it, and it is one name for the
-- whole installation. An endpoint with a workspace hears of that workspace's requests and of nothing else.
create table outbox.endpoints (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  workspace_id text references capacity.workspaces,
  url text not null check (length(url) between 1 and 2048),
  description text check (length(description) between 1 and 500),
  topics text[] not null default '{}',
  header_names text[] not null default '{}',
  enabled boolean not null default true,
  disabled_at timestamptz,
  disabled_code text check (disabled_code ~ '^[a-z][a-z0-9_]{0,62}$'),
  disabled_reason text check (length(disabled_reason) <= 500),
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (enabled = (disabled_at is null) and enabled = (disabled_code is null))
);
create index endpoints_by_workspace on outbox.endpoints (workspace_id);
comment on table outbox.endpoints is 'Where webhooks go, and which topics each endpoint hears of. Its secrets are kept apart.';
comment on column outbox.endpoints.workspace_id is 'Whose requests it hears of; null: it belongs to the installation and may hear of everything.';
comment on column outbox.endpoints.topics is 'Patterns of event types: an exact one, one that ends in ".*", or "*".';
comment on column outbox.endpoints.version is 'Counts changes, so that a late answer about an earlier state of the endpoint does not change a later one.';

-- A box of capacity.seal_secret(), or null when the value is in Vault under the name that the id gives.
create table outbox.endpoint_secrets (
  secret_id uuid primary key,
  endpoint text not null references outbox.endpoints on delete cascade,
  kind text not null check (kind in ('signing', 'headers')),
  box bytea,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz
);
create index endpoint_secrets_by_endpoint on outbox.endpoint_secrets (endpoint);
comment on table outbox.endpoint_secrets is 'What an endpoint''s requests are signed with, and the headers that are sent along. Never in the clear.';
comment on column outbox.endpoint_secrets.expires_at is 'Signs until then; set when a newer secret took its place.';

-- An envelope that an application published: once, whoever hears of it. Its deliveries are rows of the stream, one per endpoint.
create table outbox.envelopes (
  id uuid primary key,
  stream_id smallint not null,
  instruction_id text not null,
  type text not null,
  subject text,
  payload jsonb,
  outbox_ids uuid[],
  created_at timestamptz not null default clock_timestamp(),
  ord bigint generated always as identity,
  unique (stream_id, instruction_id)
);
create index envelopes_by_age on outbox.envelopes (stream_id, created_at);
create index envelopes_not_addressed on outbox.envelopes (stream_id, ord) where outbox_ids is null;
comment on table outbox.envelopes is 'Events that applications published, as CloudEvents 1.0.';
comment on column outbox.envelopes.instruction_id is 'Source and id of the event, which together are the event.';
comment on column outbox.envelopes.outbox_ids is 'Its deliveries, one per endpoint that heard of it; null until the publishing transaction commits.';
comment on column outbox.envelopes.payload is 'Null once it has been erased; a repeat of the event is still known by its source and id.';

-- It says more from now on: whether a destination is a disabled endpoint.
drop function if exists outbox.destination_status();

reset role;
