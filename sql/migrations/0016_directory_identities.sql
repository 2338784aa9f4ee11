-- How people and machines prove who they are: accounts at an identity provider, and the keys that were handed out.

-- Which rule of trust an organisation made: whoever the issuer says has a verified address in the domain may sign in as the member
-- of the workspace who has that address.
create table directory.identity_domains (
  issuer text not null check (issuer ~ '^https?://[^\s?#]+$' and length(issuer) <= 500),
  domain text not null check (domain ~ '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$'),
  workspace_id text not null references directory.workspaces,
  created_at timestamptz not null default now(),
  primary key (issuer, domain)
);
create index identity_domains_workspace on directory.identity_domains (workspace_id);
comment on table directory.identity_domains
  is 'Domains whose verified addresses an issuer is trusted with, each for one workspace. A rule links members; it makes none.';

create table directory.identities (
  issuer text not null check (issuer ~ '^https?://[^\s?#]+$' and length(issuer) <= 500),
  subject text not null check (length(subject) between 1 and 255 and subject !~ '[[:cntrl:]]'),
  workspace_id text not null,
  member_id text not null,
  domain text,
  created_at timestamptz not null default now(),
  primary key (issuer, subject),
  foreign key (workspace_id, member_id) references directory.members,
  foreign key (issuer, domain) references directory.identity_domains on delete cascade
);
create index identities_member on directory.identities (workspace_id, member_id);
create index identities_domain on directory.identities (issuer, domain) where domain is not null;
comment on table directory.identities is 'Accounts at identity providers, by issuer and subject, and the member that each one is.';
comment on column directory.identities.domain is 'The domain whose rule made this row; null: an admin did. It ends with its rule.';

-- Nothing that works by itself (a rule for a domain, the first use in Slack) gives these to anybody; an admin does, and takes them off
-- this list by that.
create table directory.ended_accounts (
  workspace_id text not null references directory.workspaces,
  issuer text not null,
  subject text not null,
  member_id text not null,
  ended_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, issuer, subject)
);
comment on table directory.ended_accounts
  is 'Accounts at identity providers and Slack users that were taken from a member; only an admin links them again.';
comment on column directory.ended_accounts.issuer
  is 'The identity provider; for a user of Slack who was known by the Slack user id: slack.';

-- Keys that were handed out, so that one can be revoked. The key itself is a signed token and is kept by nobody here.
create table directory.api_keys (
  id text primary key check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  role text not null check (role in ('service_role', 'authenticated')),
  workspace_id text,
  member_id text,
  note text check (length(note) between 1 and 200 and note !~ '[[:cntrl:]]'),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  foreign key (workspace_id, member_id) references directory.members,
  check ((role = 'authenticated') = (member_id is not null) and (workspace_id is null) = (member_id is null))
);
create index api_keys_member on directory.api_keys (workspace_id, member_id);
comment on table directory.api_keys
  is 'Keys of machines and members, by key id; whoever presents one that was revoked is refused.';
