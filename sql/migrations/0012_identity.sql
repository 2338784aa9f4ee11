-- How people and machines prove who they are: accounts at an identity provider, and the keys that were handed out.

-- Which rule of trust an organisation made: whoever the issuer says has a verified address in the domain may sign in as the member
-- of the workspace who has that address.
create table capacity.identity_domains (
  issuer text not null check (issuer ~ '^https?://[^\s?#]+$' and length(issuer) <= 500),
  domain text not null check (domain ~ '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$'),
  workspace_id text not null references capacity.workspaces,
  created_at timestamptz not null default now(),
  primary key (issuer, domain)
);
comment on table capacity.identity_domains is 'Domains whose verified addresses an issuer is trusted with, each for one workspace. A rule links members; it makes none.';

create table capacity.identities (
  issuer text not null check (issuer ~ '^https?://[^\s?#]+$' and length(issuer) <= 500),
  subject text not null check (length(subject) between 1 and 255 and subject !~ '[[:cntrl:]]'),
  workspace_id text not null,
  member_id text not null,
  domain text,
  created_at timestamptz not null default now(),
  primary key (issuer, subject),
  foreign key (workspace_id, member_id) references capacity.members,
  foreign key (issuer, domain) references capacity.identity_domains on delete cascade
);
create index identities_member on capacity.identities (workspace_id, member_id);
create index identities_domain on capacity.identities (issuer, domain) where domain is not null;
comment on table capacity.identities is 'Accounts at identity providers, by issuer and subject, and the member that each one is.';
comment on column capacity.identities.domain is 'The domain whose rule made this row; null: an admin did. It ends with its rule.';

alter table capacity.members add column signed_out_at timestamptz;
comment on column capacity.members.signed_out_at is 'Sessions in a browser that began earlier count no more.';

-- Keys that were handed out, so that one can be called back. The key itself is a signed token and is kept by nobody here.
create table capacity.api_keys (
  id text primary key check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  role text not null check (role in ('service_role', 'authenticated')),
  workspace_id text,
  member_id text,
  note text check (length(note) between 1 and 200 and note !~ '[[:cntrl:]]'),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  foreign key (workspace_id, member_id) references capacity.members,
  check ((role = 'authenticated') = (member_id is not null) and (workspace_id is null) = (member_id is null))
);
comment on table capacity.api_keys is 'Keys of machines and members, by key id; whoever presents one that was revoked is refused.';
