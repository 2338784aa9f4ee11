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
