-- run as: migrator
-- What providers send us: a schema for receiving it, the book of deliveries, and the stream by which a click is answered.
create schema if not exists inbound authorization headroom_owner;
comment on schema inbound is 'Receiving: signatures, deliveries of providers, and what Slack commands, buttons and forms mean. Private.';

set local role headroom_owner;

-- Which workspace of ours a Slack workspace speaks for, and who we are in Linear.
alter table capacity.workspaces
  add column slack_team_id text unique check (slack_team_id ~ '^T[A-Z0-9]{2,31}$'),
  add column slack_enterprise_id text unique check (slack_enterprise_id ~ '^E[A-Z0-9]{2,31}$'),
  add column linear_actor_id text check (length(linear_actor_id) between 1 and 64);
comment on column capacity.workspaces.slack_team_id is 'The Slack workspace whose commands and buttons act on this one.';
comment on column capacity.workspaces.slack_enterprise_id is 'The Enterprise Grid whose workspaces act on this one, unless one of them is named elsewhere.';
comment on column capacity.workspaces.linear_actor_id is 'Who we are in Linear, learnt from the echo of our first comment: what this one does there is no news to us.';

-- Unique by what the provider calls the delivery: the insert decides who handles it, and a transaction that fails leaves nothing
-- behind, so that the provider's next try is handled.
create table inbound.deliveries (
  provider text not null check (provider in ('slack', 'linear', 'stripe', 'github', 'postal')),
  delivery_id text not null check (length(delivery_id) between 1 and 200),
  kind text not null check (length(kind) between 1 and 100),
  received_at timestamptz not null default clock_timestamp(),
  outcome text not null default 'received' check (outcome in ('received', 'done', 'opened', 'answered', 'refused', 'ignored')),
  refusal text check (length(refusal) <= 500),
  workspace_id text,
  member_id text,
  request_id text,
  payload jsonb not null check (octet_length(payload::text) <= 1048576),
  primary key (provider, delivery_id)
);
create index deliveries_age on inbound.deliveries (received_at);
create index deliveries_request on inbound.deliveries (request_id) where request_id is not null;
comment on table inbound.deliveries is 'Every delivery whose signature was right and whose content was understood, once.';
comment on column inbound.deliveries.outcome is 'received: kept for later. done: something was decided. opened: a form. answered: nothing changed. refused, ignored.';
comment on column inbound.deliveries.refusal is 'Why it was refused, which may quote what people wrote; erased with the customer of the request.';
comment on column inbound.deliveries.request_id is 'The request that it made, decided or named, or that the form made which it opened.';
comment on column inbound.deliveries.payload
  is 'What is needed to account for it: never what somebody wrote, a digest of it, a token, a trigger or an address to answer to.';

-- Forms and notes to one person. Without order, because each stands alone; few tries, because a form that opens after its trigger
-- has died opens never; and never sent twice on a guess.
insert into outbox.rails (name, capability, timeout_ms) values ('slack-interaction', 'blind', 5000) on conflict (name) do nothing;
insert into outbox.streams
  (name, ordered, on_dead, carries_money, resend_blind, max_tries, backoff_base_ms, backoff_factor, backoff_cap_ms, class_id, dedupe_days)
select 'interactions', false, 'skip', false, false, 4, 250, 2, 5000, c.class_id, 14
  from outbox.retention_classes c where c.name = 'week';

reset role;
