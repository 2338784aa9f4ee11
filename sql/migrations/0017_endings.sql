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
