-- What members cause is counted: how much one may cause in an hour, and whose messages wait behind those of others.
alter table directory.workspaces
  add column acts_per_hour integer default 300 check (acts_per_hour between 1 and 10000);
comment on column directory.workspaces.acts_per_hour
  is 'How often one member may do in an hour what others are told of, with their own sign-in; null: as often as they like.';

-- Unlogged: what a crash forgets is an hour's count. Only inserted into, so that nobody waits for anybody.
create unlogged table capacity.acts (
  workspace_id text not null,
  account text not null,
  at timestamptz not null
);
create index acts_account on capacity.acts (workspace_id, account, at);
comment on table capacity.acts is 'What members did within the hour that others are told of. See capacity.levels_behind().';
comment on column capacity.acts.account is 'A member''s id; where a key or a login acted for them, that behind it.';

alter type capacity.context add attribute acts integer, add attribute acts_per_hour integer, add attribute demoted integer;

-- It takes a priority.
drop function if exists capacity.enqueue_effect(jsonb, text);

-- Says how many messages it made.
drop function if exists notify.carry(notify.notifications[], text);
drop function if exists notify.fit_for_mail(notify.notifications[]);
