-- What ends: everything by which somebody was a member, with the member; and what was said to one person, by itself.

-- A token says who somebody is and outlives the directory's change of mind: a member who was removed and whose id is used again must not
-- be met by what was issued before.
alter table capacity.members add column tokens_from timestamptz;
comment on column capacity.members.tokens_from
  is 'When the member was last removed or brought back: tokens and sessions from before count no more.';
comment on column capacity.members.active is 'False: removed. What is left of the row is the name, for the log.';

-- Accounts that were taken from their members. Nothing that works by itself (a rule for a domain, the first use in Slack) gives them to
-- anybody; an admin does, and takes them off this list by that.
create table capacity.ended_accounts (
  workspace_id text not null references capacity.workspaces,
  issuer text not null,
  subject text not null,
  member_id text not null,
  ended_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, issuer, subject)
);
comment on table capacity.ended_accounts is 'Accounts at identity providers and Slack users that were taken from a member; only an admin links them again.';
comment on column capacity.ended_accounts.issuer is 'The identity provider; for a user of Slack who was known by the Slack user id: slack.';

-- It says more from now on: what ended.
drop function if exists capacity.remove_member(text, text);

-- A form opens within seconds or never, and a note to one person is of use for minutes. Both may quote a customer, and most of them belong
-- to no request, by which an erasure would find them. So they end by themselves, dead letters too.
alter table outbox.streams add column forget_minutes integer check (forget_minutes > 0);
comment on column outbox.streams.forget_minutes
  is 'So long after a row has expired it is given up, if it is not finished, and its payload is erased; null: payloads are kept as long as the archive.';
update outbox.streams set forget_minutes = 30 where name = 'interactions';
create index payloads_expiring on outbox.payloads (stream_id, expires_at) where expires_at is not null and erased_at is null;

-- Refusals that still quote what was typed; later only the code is kept, which has no blank in it.
create index deliveries_quoting on inbound.deliveries (received_at) where strpos(refusal, ' ') > 0;
comment on column inbound.deliveries.refusal
  is 'Why it was refused: a code, and for half an hour the sentence, which may quote what people wrote; it goes at once with the customer of the request.';
