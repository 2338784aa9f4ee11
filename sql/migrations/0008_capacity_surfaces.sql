-- Where the workflow shows itself: the rails that its side effects name, and what their surfaces and the timers need to know.

-- Rows may only name a rail that stands here, and requests are made before any relay has declared its rails. A relay that has
-- one declares it again when it starts, with these same values.
insert into outbox.rails (name, capability, timeout_ms) values
  ('slack',   'lookup',     10000),
  ('linear',  'lookup',     10000),
  ('email',   'blind',      30000),
  ('webhook', 'idempotent', 15000)
on conflict (name) do nothing;

-- A row that says how things stand is rendered when it is sent, by what stands then; one that says what happened, when it happened.
insert into outbox.renderers (name, function_name) values
  ('slack-root',   'capacity.slack_root_now'),
  ('linear-issue', 'capacity.linear_issue_now');

-- A Linear team names its workflow states as it likes. A state without a row here is sent by its kind (started, completed, …),
-- and the rail takes the team's first state of that kind.
create table capacity.linear_states (
  workspace_id text not null references capacity.workspaces,
  state public.capacity_request_state not null,
  linear_state_id text not null check (length(linear_state_id) between 1 and 64),
  primary key (workspace_id, state)
);
comment on table capacity.linear_states is 'Which workflow state of the Linear team stands for which state of a request.';

-- Reviews that are late stay late: without a note of when to look again, each sweep would read all of them each minute. Written
-- by the sweep alone, so that deciding a request costs nothing more.
create table capacity.review_looks (
  request_id text primary key,
  next_look_at timestamptz not null
);
create index review_looks_age on capacity.review_looks (next_look_at);
comment on table capacity.review_looks is 'When the sweep looks again at a request whose review is late. A missing row: at once.';

-- How often a person was reminded of a review, and when last.
create index notices_reminders on capacity.notices (request_id, step, member_id, created_at) where kind = 'reminder';
-- When a person was last reminded of anything.
create index notices_reminded on capacity.notices (member_id, created_at) where kind = 'reminder';
create unique index notices_one_late on capacity.notices (request_id, step) where kind = 'late';

-- What deliveries brought back about a request: the thread of its first Slack message, its Linear issue. The engine keeps captures
-- under lanes, whose keys no reader of requests can be given and from which no index leads to a request; this is a copy under the
-- request's id, so that readers see it by the policy of the request, and what Slack or Linear names is found by index. No foreign
-- key: a settle would wait for whoever decides the request. A row for each name, because two lanes write them independently.
create table capacity.request_captures (
  request_id text not null,
  name text not null check (name in ('slack_thread_ts', 'linear_issue_id')),
  value text not null,
  primary key (request_id, name)
);
create index request_captures_value on capacity.request_captures (name, value);
comment on table capacity.request_captures is 'What Slack and Linear call a request. Follows outbox.captures, by trigger.';
