-- run as: migrator
-- Billing: prices, what customers pay, and what goes back. The migrator makes the schema, which needs a right on the database; everything
-- else is made as the owner.
create schema billing authorization headroom_owner;
comment on schema billing is 'Billing: prices, checkouts, payments, subscriptions, refunds, disputes, and the books over them. Private.';

set local role headroom_owner;

create table billing.settings (
  workspace_id text primary key references directory.workspaces,
  currency text not null default 'USD' check (currency ~ '^[A-Z]{3}$'),
  session_minutes integer not null default 1440 check (session_minutes between 30 and 1440),
  hold_days integer not null default 14 check (hold_days between 1 and 60),
  grace_days integer not null default 7 check (grace_days between 0 and 90),
  self_service_requester text,
  updated_at timestamptz not null default now(),
  foreign key (workspace_id, self_service_requester) references directory.members
);
create index settings_requester on billing.settings (workspace_id, self_service_requester);
comment on table billing.settings is 'How a workspace takes money. A workspace without a row has the defaults.';
comment on column billing.settings.currency is 'Which price counts where there are several that differ in nothing else.';
comment on column billing.settings.session_minutes is 'How long a page of Stripe''s Checkout stays open, at most.';
comment on column billing.settings.hold_days is 'How long an offer waits beyond its deadline for a payment that is being processed.';
comment on column billing.settings.grace_days is 'How long a renewal may fail before people are told that the subscription is unpaid.';
comment on column billing.settings.self_service_requester
  is 'The member in whose name the self-service wizard submits requests. Null: the wizard is closed.';

-- A price is never changed: a new row replaces it from its time on, and offers keep the one that they were made with.
create table billing.prices (
  id uuid primary key default gen_random_uuid(),
  workspace_id text not null references directory.workspaces,
  size text not null check (size ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'),
  region text check (region ~ '^[a-z0-9-]{2,32}$'),
  duration_days integer check (duration_days between 1 and 3650),
  kind text not null check (kind in ('one_off', 'recurring')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  unit_amount bigint not null check (unit_amount between 1 and 99999999999),
  valid_from timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null,
  withdrawn_at timestamptz,
  withdrawn_by text,
  withdrawn_why text check (length(withdrawn_why) between 1 and 500),
  check (num_nonnulls(withdrawn_at, withdrawn_by, withdrawn_why) in (0, 3))
);
create index prices_find on billing.prices (workspace_id, upper(size), valid_from desc);
comment on table billing.prices is 'What one instance costs, by size, region and duration; null holds for all. Kept for ever.';
comment on column billing.prices.kind is 'one_off: for the whole duration. recurring: for each month.';
comment on column billing.prices.unit_amount is 'Of one instance, in minor units of the currency as Stripe counts them.';
comment on column billing.prices.withdrawn_at
  is 'It was a mistake: open offers at this price can no longer be paid, and a payment that arrives all the same goes back.';

create table billing.exchange_rates (
  workspace_id text not null references directory.workspaces,
  currency text not null check (currency ~ '^[A-Z]{3}$' and currency <> 'USD'),
  usd numeric not null check (usd > 0 and usd < 1000000),
  set_by text not null,
  set_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, currency)
);
comment on table billing.exchange_rates
  is 'What one unit of a currency is worth in US dollars when escalation rules are applied. Set by people; money is never converted by it.';

reset role;
