-- Slack users of members who were removed, until no message that was sent about a request keeps their id.
create table capacity.removed_slack_users (
  workspace_id text not null references directory.workspaces,
  slack_user_id text not null,
  forgotten_to text not null default '',
  left_over boolean not null default false,
  next_at timestamptz not null default now(),
  primary key (workspace_id, slack_user_id)
);
comment on table capacity.removed_slack_users is 'Slack users whose id is still to be removed from messages.';
comment on column capacity.removed_slack_users.forgotten_to
  is 'The request that was looked at last; they are taken in the order of their ids.';
comment on column capacity.removed_slack_users.left_over is 'A message was still on its way, so all requests are looked at once more.';

insert into capacity.removed_slack_users (workspace_id, slack_user_id)
select e.workspace_id, e.subject from directory.ended_accounts e where e.issuer = 'slack';
