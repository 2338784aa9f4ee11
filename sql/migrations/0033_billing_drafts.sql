-- Drafts of the self-service wizard. Anonymous: nobody is told of one before its address is proven, and it is forgotten after a day.
create table billing.drafts (
  id uuid primary key,
  workspace_id text not null references directory.workspaces,
  terms jsonb not null default '{}',
  revision integer not null default 0,
  step smallint not null default 1 check (step between 1 and 4),
  address_mark bytea,
  mailed_at timestamptz,
  mails smallint not null default 0,
  request_id text unique references capacity.requests,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index drafts_expiry on billing.drafts (expires_at);
create index drafts_recent on billing.drafts (workspace_id, created_at);
create index drafts_address on billing.drafts (workspace_id, address_mark, mailed_at) where mailed_at is not null;
comment on table billing.drafts is 'What somebody is filling in. Erased when it expires, or when it has become a request.';
comment on column billing.drafts.address_mark is 'Keyed hash of the address, by which mails to it are counted.';
