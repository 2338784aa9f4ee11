-- run as: migrator
-- Temporary: moves what exists into its layer.
create schema if not exists headroom authorization headroom_owner;
create schema webhooks authorization headroom_owner;
create schema directory authorization headroom_owner;
set local role headroom_owner;
alter table capacity.secrets set schema headroom;
alter table capacity.sealing_key set schema headroom;
alter table outbox.endpoints set schema webhooks;
alter table outbox.endpoint_secrets set schema webhooks;
alter table outbox.envelopes set schema webhooks;
alter table outbox.alerts set schema webhooks;
alter table outbox.alerts_raised set schema webhooks;
alter table capacity.workspaces set schema directory;
alter table capacity.members set schema directory;
alter table capacity.groups set schema directory;
alter table capacity.group_members set schema directory;
alter table capacity.identities set schema directory;
alter table capacity.identity_domains set schema directory;
alter table capacity.ended_accounts set schema directory;
alter table capacity.api_keys set schema directory;
reset role;
set local role headroom_owner;
create table headroom.hook_points (
  point text primary key check (point ~ '^[a-z]+\.[a-z_]+$'),
  layer text not null,
  meaning text not null
);
comment on table headroom.hook_points is 'Points at which upper layers may join in, declared by the layer that runs them.';
create table headroom.hooks (
  point text not null references headroom.hook_points on delete cascade,
  layer text not null,
  function_name text not null check (function_name ~ '^[a-z_]+\.[a-z_]+$'),
  primary key (point, layer)
);
comment on table headroom.hooks is 'Functions (jsonb) returns jsonb that upper layers registered. Written by the migrator alone.';
-- One place for whatever is sealed: secrets by name, and what endpoints keep to themselves.
alter table headroom.secrets rename to boxes;
alter table headroom.boxes rename column encrypted to box;
alter table headroom.boxes alter column box drop not null;
alter table headroom.boxes drop constraint secrets_name_check;
alter table headroom.boxes add column label text;
alter table headroom.boxes rename constraint secrets_pkey to boxes_pkey;
alter table headroom.boxes add check (length(name) between 1 and 200);
comment on table headroom.boxes is 'What is sealed under a key that only the environment holds; null: Vault keeps it.';
alter table webhooks.endpoint_secrets drop column box;
alter table webhooks.endpoints rename column workspace_id to tenant_id;
alter table webhooks.endpoints drop constraint endpoints_workspace_id_fkey;
drop table webhooks.alerts_raised;
create table webhooks.alerts_raised (
  alert text not null references webhooks.alerts on delete cascade,
  stream text not null,
  rail text not null,
  raised_at timestamptz not null default now(),
  said_at timestamptz not null default now(),
  last_died_at timestamptz not null,
  primary key (alert, stream, rail)
);
comment on column webhooks.alerts_raised.last_died_at is 'When the newest dead letter that was told of died.';
delete from outbox.limits where name = 'slack:';
delete from outbox.renderers;
delete from outbox.streams;
delete from outbox.rails;
reset role;
set local role headroom_owner;
alter table inbound.deliveries rename to receipts;
alter table inbound.receipts rename column delivery_id to receipt_id;
alter index inbound.deliveries_age rename to receipts_age;
alter index inbound.deliveries_request rename to receipts_request;
alter index inbound.deliveries_pkey rename to receipts_pkey;
reset role;
