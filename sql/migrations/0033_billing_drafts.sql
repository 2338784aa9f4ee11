-- Drafts of the self-service wizard. Anonymous: nobody is told of one before its address is proven, and it is forgotten after a day.
create table billing.drafts (
  id uuid primary key,
  workspace_id text not null references directory.workspaces,
  terms jsonb not null default '{}',
  entered jsonb,
  revision integer not null default 0,
  step smallint not null default 1 check (step between 1 and 4),
  address_mark bytea,
  request_id text unique references capacity.requests,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index drafts_expiry on billing.drafts (expires_at);
create index drafts_recent on billing.drafts (workspace_id, created_at);
comment on table billing.drafts
  is 'What somebody is filling in. Forgotten when it expires; what it says is erased when it has become a request.';
comment on column billing.drafts.entered is 'What was entered last and was not right, with what is wrong: {step, values, problems}.';
comment on column billing.drafts.step is 'The step that is to be filled in next. What comes before it is complete.';
comment on column billing.drafts.address_mark is 'Keyed hash of the address, which the link in its mail is bound to.';

-- Apart from the drafts: whoever changes the address of a draft does not have the mails to the one before forgotten.
create table billing.draft_mails (
  id bigint generated always as identity primary key,
  draft_id uuid not null,
  workspace_id text not null,
  address_mark bytea not null,
  asked_at timestamptz not null default clock_timestamp()
);
create index draft_mails_address on billing.draft_mails (workspace_id, address_mark, asked_at);
create index draft_mails_draft on billing.draft_mails (draft_id);
create index draft_mails_age on billing.draft_mails (asked_at);
comment on table billing.draft_mails
  is 'Mails of the wizard, counted so that nobody can flood a mailbox by naming it. Forgotten after a day.';
