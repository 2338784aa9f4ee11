-- Money: what customers were asked to pay, what they paid, what went back, and the books that add it up. Every change is made under the
-- lock of its request.

-- This installation, in what is written into Stripe's metadata: an account may serve several, and request ids are not unique among them.
create table billing.installation (
  is_one boolean primary key default true check (is_one),
  id uuid not null default gen_random_uuid()
);
insert into billing.installation default values;
comment on table billing.installation is 'By what Stripe''s objects are known to be of this installation.';

-- The intent to let a customer pay: committed before Stripe is asked. Its id is the idempotency key.
create table billing.checkouts (
  id uuid primary key,
  request_id text not null references capacity.requests,
  workspace_id text not null,
  number smallint not null check (number > 0),
  mode text not null check (mode in ('payment', 'subscription')),
  currency text not null,
  amount bigint not null check (amount > 0),
  entrance text not null check (entrance in ('link', 'wizard')),
  state text not null default 'asked' check (state in ('asked', 'open', 'processing', 'paid', 'failed', 'expired', 'abandoned')),
  session_id text unique,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  processing_since timestamptz,
  ended_at timestamptz,
  looks smallint not null default 0,
  next_look_at timestamptz not null,
  unique (request_id, number),
  check ((state in ('asked', 'open', 'processing')) = (ended_at is null))
) with (fillfactor = 80);
-- One way to pay at a time, whatever else goes wrong.
create unique index checkouts_open on billing.checkouts (request_id) where state in ('asked', 'open', 'processing');
create index checkouts_looks on billing.checkouts (next_look_at) where state in ('asked', 'open', 'processing', 'abandoned');
comment on table billing.checkouts is 'Each time a customer was sent to pay, and what came of it.';
comment on column billing.checkouts.entrance is 'Where the customer comes back to.';
comment on column billing.checkouts.state
  is 'asked: Stripe has not answered yet. abandoned: we asked Stripe to end it, and wait for its word.';

-- Stripe's answer to it. Apart, because settling waits for no row: it only adds one here.
create table billing.sessions (
  checkout_id uuid primary key,
  session_id text not null unique,
  url text not null check (length(url) <= 2000),
  expires_at timestamptz not null,
  answered_at timestamptz not null default clock_timestamp()
);
comment on table billing.sessions is 'The Checkout sessions that Stripe made, and where they are paid.';

-- The customer at Stripe, so that one customer here is one there.
create table billing.customers (
  workspace_id text not null,
  customer_key bytea not null,
  stripe_id text not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, customer_key)
);
comment on table billing.customers is 'The Stripe customer of each customer who has paid.';

create table billing.payments (
  id uuid primary key,
  workspace_id text not null,
  request_id text not null references capacity.requests,
  checkout_id uuid unique references billing.checkouts,
  purpose text not null check (purpose in ('confirmation', 'renewal', 'unmatched')),
  session_id text unique,
  invoice_id text unique,
  payment_intent text unique,
  currency text not null,
  amount bigint not null check (amount > 0),
  counts boolean not null,
  refund_reason text check (refund_reason in ('late', 'cancelled', 'declined', 'duplicate', 'price_withdrawn', 'failed', 'unmatched')),
  paid_at timestamptz not null,
  event_id text not null,
  recorded_at timestamptz not null default clock_timestamp(),
  looks smallint not null default 0,
  next_look_at timestamptz,
  check (num_nonnulls(session_id, invoice_id, payment_intent) > 0)
) with (fillfactor = 80);
-- A request is bought once.
create unique index payments_counting on billing.payments (request_id) where counts and purpose <> 'renewal';
create index payments_request on billing.payments (request_id, recorded_at);
create index payments_recent on billing.payments (workspace_id, recorded_at desc, id desc);
create index payments_looks on billing.payments (next_look_at) where next_look_at is not null;
comment on table billing.payments is 'Money that was taken. Kept for ever: see docs/operating/erasure.md.';
comment on column billing.payments.counts is 'It bought the capacity, or another month of it. What does not count goes back.';
comment on column billing.payments.refund_reason is 'Why it goes back; null while it does not.';
comment on column billing.payments.event_id is 'The event by which Stripe told, or `look:<sighting>` where we asked.';

create table billing.subscriptions (
  id uuid primary key,
  workspace_id text not null,
  request_id text not null unique references capacity.requests,
  payment_id uuid not null unique references billing.payments,
  kind text not null check (kind in ('one_off', 'recurring')),
  state text not null default 'active' check (state in ('active', 'past_due', 'unpaid', 'ended', 'cancelled')),
  stripe_id text unique,
  starts_at timestamptz not null,
  ends_at timestamptz,
  paid_until timestamptz,
  cancels_at timestamptz,
  grace_until timestamptz,
  end_told_at timestamptz,
  cancel_asked_at timestamptz,
  told_by timestamptz,
  next_look_at timestamptz,
  updated_at timestamptz not null default clock_timestamp()
) with (fillfactor = 80);
create index subscriptions_late on billing.subscriptions (updated_at) where state in ('past_due', 'unpaid');
create index subscriptions_looks on billing.subscriptions (next_look_at) where next_look_at is not null;
comment on table billing.subscriptions is 'What a customer has paid for, from when to when. One for each request that was bought.';
comment on column billing.subscriptions.ends_at
  is 'The end of the term that was asked for. Nothing is torn down then without a person''s word.';
comment on column billing.subscriptions.told_by is 'When Stripe made the newest event that was followed: older ones change nothing.';

create table billing.refunds (
  id uuid primary key,
  workspace_id text not null,
  request_id text not null references capacity.requests,
  payment_id uuid not null references billing.payments,
  origin text not null check (origin in ('ours', 'outside')),
  reason text not null check (length(reason) between 1 and 60),
  currency text not null,
  amount bigint not null check (amount > 0),
  state text not null check (state in ('held', 'sent', 'pending', 'succeeded', 'failed', 'superseded')),
  held_by text check (held_by in ('dispute', 'payment_intent', 'person')),
  stripe_id text unique,
  outbox_id uuid,
  asked_by text not null,
  why_hash bytea,
  failure text check (length(failure) <= 100),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  looks smallint not null default 0,
  next_look_at timestamptz,
  check ((state = 'held') = (held_by is not null))
) with (fillfactor = 80);
create index refunds_payment on billing.refunds (payment_id);
create index refunds_request on billing.refunds (request_id);
-- One of ours at a time for each payment: the next one knows what this one brought back.
create unique index refunds_under_way on billing.refunds (payment_id) where origin = 'ours' and state in ('held', 'sent', 'pending');
-- What people watch is counted every minute, and is little of all that ever was.
create index refunds_waiting on billing.refunds (created_at) where state in ('held', 'sent', 'pending');
create index refunds_failed on billing.refunds (updated_at) where state = 'failed';
create index refunds_looks on billing.refunds (next_look_at) where next_look_at is not null;
comment on table billing.refunds is 'Money that goes or went back. The id is the instruction and the idempotency key.';
comment on column billing.refunds.held_by
  is 'What it waits for: the end of a dispute, the id of the payment at Stripe, or a person''s word.';

create table billing.disputes (
  stripe_id text primary key,
  workspace_id text not null,
  request_id text not null references capacity.requests,
  payment_id uuid not null references billing.payments,
  currency text not null,
  amount bigint not null check (amount > 0),
  status text not null,
  outcome text not null default 'open' check (outcome in ('open', 'won', 'lost')),
  opened_at timestamptz not null,
  updated_at timestamptz not null default clock_timestamp()
);
create index disputes_payment on billing.disputes (payment_id);
create index disputes_open on billing.disputes (opened_at) where outcome = 'open';
create index disputes_request on billing.disputes (request_id);
comment on table billing.disputes is 'Payments that customers disputed with their bank.';

-- The books: every movement of money, once. Append-only, for everybody.
create table billing.entries (
  id bigint generated always as identity primary key,
  workspace_id text not null,
  payment_id uuid not null references billing.payments,
  kind text not null check (kind in ('taken', 'refunded', 'refund_failed', 'disputed', 'dispute_won')),
  source_id text not null,
  currency text not null,
  amount bigint not null check (amount <> 0),
  event_id text not null,
  at timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp(),
  unique (payment_id, kind, source_id),
  check ((amount > 0) = (kind in ('taken', 'refund_failed', 'dispute_won')))
);
create index entries_day on billing.entries (workspace_id, currency, at);
comment on table billing.entries is 'Every movement of money, once: what came in is positive. The insert decides.';
comment on column billing.entries.source_id is 'The payment, refund or dispute at Stripe that moved it.';

-- What Stripe said and we do not understand, or what does not agree. A person looks at it.
create table billing.findings (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('amount_mismatch', 'unknown_payment', 'unknown_refund', 'unknown_dispute', 'books')),
  stripe_id text not null,
  workspace_id text,
  request_id text references capacity.requests,
  said text not null check (length(said) <= 500),
  event_id text not null,
  found_at timestamptz not null default clock_timestamp(),
  resolved_at timestamptz,
  resolved_by text,
  resolution text check (length(resolution) between 1 and 500),
  unique (kind, stripe_id)
);
create index findings_request on billing.findings (request_id);
create index findings_open on billing.findings (found_at) where resolved_at is null;
comment on table billing.findings is 'What does not agree with what Stripe said, until a person has looked at it.';

-- What relays learnt at Stripe, until the sweep has read it: settling waits for nobody.
create table billing.sightings (
  id bigint generated always as identity primary key,
  outbox_key text not null,
  object jsonb not null,
  seen_at timestamptz not null default clock_timestamp(),
  next_read_at timestamptz not null default clock_timestamp()
);
create index sightings_next on billing.sightings (next_read_at, id);
comment on table billing.sightings is 'Objects of Stripe that relays brought back, until the sweep has read them.';
comment on column billing.sightings.next_read_at
  is 'One that could not be read goes to the end of the queue, so that it keeps no other waiting.';

-- How far payments were compared with what Stripe has.
create table billing.reconciliations (
  id uuid primary key default gen_random_uuid(),
  asked_at timestamptz not null default clock_timestamp(),
  asked_by text not null,
  since timestamptz not null,
  moved_at timestamptz not null default clock_timestamp(),
  pages integer not null default 0,
  seen integer not null default 0,
  found integer not null default 0,
  cursor text,
  finished_at timestamptz
);
create index reconciliations_open on billing.reconciliations (asked_at) where finished_at is null;
comment on table billing.reconciliations is 'Comparisons of what Stripe has with what we have, newest last.';
comment on column billing.reconciliations.moved_at is 'When its last page came.';
