-- Who there is: workspaces with their settings, members, and groups.
create table directory.workspaces (
  id text primary key check (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null check (length(name) between 1 and 200),
  public_url text check (public_url ~ '^https?://[^\s]+$' and length(public_url) <= 500),
  slack_team_id text unique check (slack_team_id ~ '^T[A-Z0-9]{2,31}$'),
  slack_enterprise_id text unique check (slack_enterprise_id ~ '^E[A-Z0-9]{2,31}$'),
  slack_channel_id text check (slack_channel_id ~ '^[A-Z0-9]{2,32}$'),
  -- The Slack app is one for all workspaces, so whoever may name a channel may write in it.
  slack_channel_ids text[] not null default '{}' check (array_to_string(slack_channel_ids, ' ', '?') ~ '^([A-Z0-9]{2,32}( |$))*$'),
  slack_users_become_requesters boolean not null default true,
  linear_team_id text check (length(linear_team_id) between 1 and 64),
  linear_actor_id text check (length(linear_actor_id) between 1 and 64),
  warn_before_hours integer not null default 48 check (warn_before_hours between 1 and 8760),
  review_sla_hours integer not null default 24 check (review_sla_hours between 1 and 8760),
  remind_every_hours integer not null default 24 check (remind_every_hours between 1 and 8760),
  most_reminders smallint not null default 3 check (most_reminders between 0 and 100),
  nudge_every_minutes integer not null default 60 check (nudge_every_minutes between 1 and 10080),
  created_at timestamptz not null default now()
);
comment on table directory.workspaces is 'A company or team that keeps its requests to itself, and its settings.';
comment on column directory.workspaces.public_url is 'Where the customer''s link leads. Without it no link is mailed.';
comment on column directory.workspaces.slack_team_id is 'The Slack workspace whose commands and buttons act on this one.';
comment on column directory.workspaces.slack_enterprise_id
  is 'The Enterprise Grid whose workspaces act on this one, unless one of them is named elsewhere.';
comment on column directory.workspaces.slack_channel_id
  is 'Where requests are posted unless they name a channel. Null: nothing is posted.';
comment on column directory.workspaces.slack_channel_ids is 'Channels beside slack_channel_id that members may name for a request.';
comment on column directory.workspaces.linear_team_id is 'The team whose issues mirror requests. Null: no issues.';
comment on column directory.workspaces.linear_actor_id
  is 'Who we are in Linear, learnt from the echo of our first comment: what this one does there is no news to us.';
comment on column directory.workspaces.warn_before_hours
  is 'How long before the customer''s deadline the one warning goes out; at most half of the time that the customer has.';
comment on column directory.workspaces.review_sla_hours
  is 'How long one review step may take before it counts as late and its first reminder goes out.';
insert into directory.workspaces (id, name) values ('default', 'Default');

create table directory.members (
  workspace_id text not null references directory.workspaces,
  id text not null check (id ~ '^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$'),
  display_name text not null check (length(display_name) between 1 and 200 and display_name !~ '[[:cntrl:]]'),
  email text check (length(email) <= 320 and email ~ '^[^@\s[:cntrl:]]+@[^@\s[:cntrl:]]+$'),
  slack_user_id text check (slack_user_id ~ '^[UW][A-Z0-9]{2,31}$'),
  roles text[] not null default '{requester}'
    check (roles <@ array['requester', 'commercial', 'vp', 'operator', 'admin', 'auditor']),
  delegate_id text,
  away_from timestamptz,
  away_until timestamptz,
  active boolean not null default true,
  signed_out_at timestamptz,
  tokens_from timestamptz,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, slack_user_id),
  foreign key (workspace_id, delegate_id) references directory.members,
  constraint members_delegate_is_another check (delegate_id is distinct from id),
  constraint members_absence_has_both_ends check ((away_from is null) = (away_until is null) and away_from < away_until)
);
create index members_delegate on directory.members (workspace_id, delegate_id) where delegate_id is not null;
comment on table directory.members is 'The directory: the one source of who may do what. A token only says who somebody is.';
comment on column directory.members.delegate_id is 'Who acts for this member while away. Without dates of absence: never.';
comment on column directory.members.active is 'False: removed. What is left of the row is the name, for the log.';
comment on column directory.members.signed_out_at is 'Sessions in a browser that began earlier count no more.';
-- A token says who somebody is and outlives the directory's change of mind: a member who was removed and whose id is used again must
-- not be met by what was issued before.
comment on column directory.members.tokens_from
  is 'When the member was last removed or brought back: tokens and sessions from before count no more.';

create table directory.groups (
  workspace_id text not null references directory.workspaces,
  id text not null check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
  name text not null check (length(name) between 1 and 200),
  primary key (workspace_id, id)
);
comment on table directory.groups is 'Infra groups: any member of one may give the technical review that is routed to it.';

create table directory.group_members (
  workspace_id text not null,
  group_id text not null,
  member_id text not null,
  primary key (workspace_id, group_id, member_id),
  foreign key (workspace_id, group_id) references directory.groups on delete cascade,
  foreign key (workspace_id, member_id) references directory.members on delete cascade
);
create index group_members_member on directory.group_members (workspace_id, member_id);
