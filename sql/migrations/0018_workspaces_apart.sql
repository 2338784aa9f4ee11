-- What one workspace could learn of another by counting, and where it could write.

-- The Slack app is one for all workspaces, so whoever may name a channel may write in it.
alter table capacity.workspaces
  add column slack_channel_ids text[] not null default '{}' check (array_to_string(slack_channel_ids, ' ', '?') ~ '^([A-Z0-9]{2,32}( |$))*$');
comment on column capacity.workspaces.slack_channel_ids is 'Channels beside slack_channel_id that members may name for a request.';

-- Notices are numbered within their request: one row of numbers for all would tell everybody how many the others have.
alter table capacity.notices alter column id drop identity;
alter table capacity.notices drop constraint notices_pkey;
alter table capacity.notices add primary key (request_id, id);
comment on column capacity.notices.id is 'Counts within the request, under its lock.';

-- It asks for the workspace from now on.
drop function if exists capacity.next_request_id(timestamptz);

-- Events know their workspace, so that reading one's own takes no longer for what others do: under row-level security the log was read by its
-- time alone, and whoever asked for a day could tell by the clock how much had happened to everybody.
alter table capacity.events add column workspace_id text;
alter table capacity.events disable trigger user;
update capacity.events e set workspace_id = r.workspace_id from capacity.requests r where r.id = e.request_id;
alter table capacity.events enable trigger user;
alter table capacity.events alter column workspace_id set not null;
comment on column capacity.events.workspace_id is 'The request''s, for finding the event. Not in the hash: the submission has it in its payload.';
drop index capacity.events_by_time;
create index events_by_time on capacity.events (workspace_id, created_at, request_id, seq, state_before, state_after, event_type);
drop index capacity.events_approved;
create index events_approved on capacity.events (workspace_id, created_at, request_id, event_type, state_after, actor_type)
  where event_type in ('COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED') and payload -> 'counts' is distinct from 'false';
-- For the server, which follows what happens to all.
create index events_recent on capacity.events (created_at);
