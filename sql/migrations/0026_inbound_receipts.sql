-- run as: migrator
-- What providers send us: a schema for receiving it, and the list of what was received. The migrator makes the schema, which needs a
-- right on the database; everything else is made as the owner.
create schema inbound authorization headroom_owner;
comment on schema inbound
  is 'Receiving: signatures, receipts of what providers send, and what Slack commands, buttons and forms mean. Private.';

set local role headroom_owner;

-- Unique by what the provider calls it: the insert decides who handles it, and a transaction that fails leaves nothing behind, so that
-- the provider's next try is handled.
create table inbound.receipts (
  provider text not null check (provider in ('slack', 'linear', 'stripe', 'github', 'postal')),
  receipt_id text not null check (length(receipt_id) between 1 and 200),
  kind text not null check (length(kind) between 1 and 100),
  received_at timestamptz not null default clock_timestamp(),
  outcome text not null default 'received' check (outcome in ('received', 'done', 'opened', 'answered', 'refused', 'ignored')),
  refusal text check (length(refusal) <= 500),
  workspace_id text,
  member_id text,
  request_id text,
  payload jsonb not null check (octet_length(payload::text) <= 1048576),
  primary key (provider, receipt_id)
);
create index receipts_age on inbound.receipts (received_at);
create index receipts_request on inbound.receipts (request_id) where request_id is not null;
-- Refusals that still quote what was typed; later only the code is kept, which has no blank in it.
create index receipts_quoting on inbound.receipts (received_at) where strpos(refusal, ' ') > 0;
comment on table inbound.receipts is 'Whatever a provider sent whose signature was right and whose content was understood, once.';
comment on column inbound.receipts.outcome
  is 'received: kept for later. done: something was decided. opened: a form. answered: nothing changed. refused, ignored.';
comment on column inbound.receipts.refusal
  is 'Why it was refused: a code, and for half an hour the sentence, which may quote what people wrote; '
     'it goes at once with the customer of the request.';
comment on column inbound.receipts.request_id is 'The request that it made, decided or named, or that the form made which it opened.';
comment on column inbound.receipts.payload
  is 'What is needed to account for it: never what somebody wrote, a digest of it, a token, a trigger or an address to answer to.';

reset role;
