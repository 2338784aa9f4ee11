-- Once somebody went on by the link of the mail, the order is theirs alone. What nobody has proven yet is limited by who asks for it,
-- instead of for a whole workspace.
alter table billing.drafts add column proven_at timestamptz, add column generation integer not null default 0,
  add column spender bytea;
comment on column billing.drafts.proven_at is 'Since when only the link of the mail opens it: whoever has it did something by it.';
comment on column billing.drafts.generation
  is 'How often it went on to another address after one was proven. Tokens and links are bound to it.';
comment on column billing.drafts.spender is 'Who began it, as far as limits go (billing.spender).';
update billing.drafts set proven_at = updated_at where request_id is not null;
drop index billing.drafts_recent;
create index drafts_unmailed on billing.drafts (workspace_id, spender, updated_at) where address_mark is null;

alter table billing.draft_mails add column spender bytea, add column proven boolean not null default false;
comment on column billing.draft_mails.spender is 'Who asked for it, as far as limits go (billing.spender).';
comment on column billing.draft_mails.proven
  is 'Somebody who reads the mailbox went on since: it counts neither for the mailbox nor for the spender.';
create index draft_mails_spender on billing.draft_mails (workspace_id, spender, asked_at) where not proven;

-- They take and answer something else.
drop function if exists billing.open_draft(text, uuid, integer);
drop function if exists billing.draft_token(text, uuid);
drop function if exists billing.draft_signature(text, text, text, uuid, bytea);
