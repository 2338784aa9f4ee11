-- Who there is and what holds for them: workspaces, members, groups, policies.

create type public.capacity_request_state as enum (
  'SUBMITTED', 'UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING', 'COMPLETED',
  'REJECTED', 'CANCELLED', 'EXPIRED', 'FAILED'
);
create type public.capacity_request_event_type as enum (
  'REQUEST_SUBMITTED', 'COMMERCIAL_APPROVED', 'COMMERCIAL_REJECTED', 'TECH_REVIEW_APPROVED', 'TECH_REVIEW_REJECTED',
  'CUSTOMER_CONFIRMED', 'CUSTOMER_DECLINED', 'CUSTOMER_CONFIRMATION_TIMEOUT', 'PROVISIONING_COMPLETE', 'PROVISIONING_FAILED',
  'CANCEL_APPROVED'
);
create type public.capacity_request_actor_type as enum ('user', 'system', 'cron', 'customer');

create table capacity.workspaces (
  id text primary key check (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null check (length(name) between 1 and 200),
  public_url text check (public_url ~ '^https?://[^\s]+$' and length(public_url) <= 500),
  slack_channel_id text check (slack_channel_id ~ '^[A-Z0-9]{2,32}$'),
  linear_team_id text check (length(linear_team_id) between 1 and 64),
  slack_users_become_requesters boolean not null default true,
  warn_before_hours integer not null default 48 check (warn_before_hours between 1 and 8760),
  review_sla_hours integer not null default 24 check (review_sla_hours between 1 and 8760),
  remind_every_hours integer not null default 24 check (remind_every_hours between 1 and 8760),
  most_reminders smallint not null default 3 check (most_reminders between 0 and 100),
  nudge_every_minutes integer not null default 60 check (nudge_every_minutes between 1 and 10080),
  created_at timestamptz not null default now()
);
comment on table capacity.workspaces is 'A company or team that keeps its requests to itself, and its settings.';
comment on column capacity.workspaces.public_url is 'Where the customer''s link leads. Without it no link is mailed.';
comment on column capacity.workspaces.slack_channel_id is 'Where requests are posted unless they name a channel. Null: nothing is posted.';
comment on column capacity.workspaces.linear_team_id is 'The team whose issues mirror requests. Null: no issues.';
comment on column capacity.workspaces.warn_before_hours is 'How long before the customer''s deadline the one warning goes out; at most half of the time that the customer has.';
comment on column capacity.workspaces.review_sla_hours is 'How long one review step may take before it counts as late and its first reminder goes out.';

create table capacity.members (
  workspace_id text not null references capacity.workspaces,
  id text not null check (id ~ '^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$'),
  display_name text not null check (length(display_name) between 1 and 200 and display_name !~ '[[:cntrl:]]'),
  email text check (length(email) <= 320 and email ~ '^[^@\s[:cntrl:]]+@[^@\s[:cntrl:]]+$'),
  slack_user_id text check (slack_user_id ~ '^[UW][A-Z0-9]{2,31}$'),
  roles text[] not null default '{requester}' check (roles <@ array['requester', 'commercial', 'vp', 'operator', 'admin', 'auditor']),
  delegate_id text,
  away_from timestamptz,
  away_until timestamptz,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, slack_user_id),
  foreign key (workspace_id, delegate_id) references capacity.members,
  check (delegate_id is distinct from id),
  check ((away_from is null) = (away_until is null) and away_from < away_until)
);
create index members_delegate on capacity.members (workspace_id, delegate_id) where delegate_id is not null;
comment on table capacity.members is 'The directory: the one source of who may do what. A token only says who somebody is.';
comment on column capacity.members.delegate_id is 'Who acts for this member while away. Without dates of absence: never.';

create table capacity.groups (
  workspace_id text not null references capacity.workspaces,
  id text not null check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
  name text not null check (length(name) between 1 and 200),
  primary key (workspace_id, id)
);
comment on table capacity.groups is 'Infra groups: any member of one may give the technical review that is routed to it.';

create table capacity.group_members (
  workspace_id text not null,
  group_id text not null,
  member_id text not null,
  primary key (workspace_id, group_id, member_id),
  foreign key (workspace_id, group_id) references capacity.groups on delete cascade,
  foreign key (workspace_id, member_id) references capacity.members on delete cascade
);
create index group_members_member on capacity.group_members (workspace_id, member_id);

-- A rule applies when all of its conditions hold; a condition that is null holds always. A request without an estimate of its
-- cost counts as costing anything: it meets every minimum and no maximum.
create table capacity.policies (
  workspace_id text not null references capacity.workspaces,
  id text not null check (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  kind text not null check (kind in ('escalation', 'auto_approval', 'review_route')),
  rank integer not null default 100,
  enabled boolean not null default true,
  description text check (length(description) <= 500),
  sizes text[] check (cardinality(sizes) between 1 and 100),
  regions text[] check (cardinality(regions) between 1 and 100),
  min_monthly_cost_usd numeric check (min_monthly_cost_usd >= 0),
  max_monthly_cost_usd numeric check (max_monthly_cost_usd >= 0),
  max_quantity integer check (max_quantity > 0),
  step text not null check (step in ('commercial', 'technical', 'both')),
  approver_role text check (approver_role in ('commercial', 'vp', 'admin')),
  approver_id text,
  group_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, id),
  foreign key (workspace_id, approver_id) references capacity.members,
  foreign key (workspace_id, group_id) references capacity.groups,
  -- An escalation names the authority that counts; a route names who reviews; an automatic approval names nobody.
  check (case kind
           when 'escalation' then step = 'commercial' and num_nonnulls(approver_role, approver_id) = 1 and group_id is null
           when 'auto_approval' then num_nonnulls(approver_role, approver_id, group_id) = 0
           else case step when 'commercial' then approver_id is not null and approver_role is null and group_id is null
                          when 'technical' then group_id is not null and approver_id is null and approver_role is null
                          else false end
         end)
);
comment on table capacity.policies is 'Approval rules, snapshotted into a request when it is submitted. Of several that apply, the lowest rank decides.';

insert into capacity.workspaces (id, name) values ('default', 'Default');
