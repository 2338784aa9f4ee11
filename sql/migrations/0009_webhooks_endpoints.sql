-- run as: migrator
-- Who hears of events: endpoints and their secrets. The migrator makes the schema, which needs a right on the database; everything else
-- is made as the owner.
create schema webhooks authorization headroom_owner;
comment on schema webhooks
  is 'Endpoints, the events that applications publish to them, and alerts on dead letters, over the delivery engine. Private.';

set local role headroom_owner;

-- An endpoint is known by its id: strangers share an installation, and no name that one of them chooses may have an effect on the rows
-- of another. Its name is unique within its tenant, or among the installation's own, and inherits nothing from an endpoint that had it
-- before. The destination of its rows is called `endpoint:<id>`, so rate limits and circuits apply to it.
create table webhooks.endpoints (
  id uuid primary key default gen_random_uuid(),
  tenant_id text,
  name text not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  url text not null check (length(url) between 1 and 2048),
  private boolean not null default false,
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
  constraint endpoints_name_key unique nulls not distinct (tenant_id, name),
  check (enabled = (disabled_at is null) and enabled = (disabled_code is null))
);
comment on table webhooks.endpoints is 'Where webhooks go, and which topics each endpoint hears of. Its secrets are kept apart.';
comment on column webhooks.endpoints.tenant_id
  is 'Whose requests it hears of, and whose rows alone it is sent; null: it belongs to the installation and may be sent any.';
-- A relay that may reach private addresses does so for endpoints of which an operator said that they are meant.
comment on column webhooks.endpoints.private
  is 'An operator''s word that http and a private address are meant; a relay must allow them as well.';
comment on column webhooks.endpoints.topics is 'Patterns of event types: an exact one, one that ends in ".*", or "*".';
comment on column webhooks.endpoints.version
  is 'Counts changes, so that a late answer about an earlier state of the endpoint does not change a later one.';

-- The value itself is in headroom.boxes or in Vault, under the name that the id gives.
create table webhooks.endpoint_secrets (
  secret_id uuid primary key,
  endpoint_id uuid not null references webhooks.endpoints on delete cascade,
  kind text not null check (kind in ('signing', 'headers')),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz
);
create index endpoint_secrets_by_endpoint on webhooks.endpoint_secrets (endpoint_id);
comment on table webhooks.endpoint_secrets
  is 'What an endpoint''s requests are signed with, and the headers that are sent along. Never in the clear.';
comment on column webhooks.endpoint_secrets.expires_at is 'Signs until then; set when a newer secret took its place.';

reset role;
