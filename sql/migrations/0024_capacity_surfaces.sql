-- Where the workflow shows itself: what its surfaces in Slack and Linear need to know, and who gets its events.

-- A Linear team names its workflow states as it likes. A state without a row here is sent by its kind (started, completed, …),
-- and the rail takes the team's first state of that kind.
create table capacity.linear_states (
  workspace_id text not null references directory.workspaces,
  state public.capacity_request_state not null,
  linear_state_id text not null check (length(linear_state_id) between 1 and 64),
  primary key (workspace_id, state)
);
comment on table capacity.linear_states is 'Which workflow state of the Linear team stands for which state of a request.';

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
comment on table capacity.request_captures is 'What Slack and Linear call a request. Follows what the engine captured, by a hook.';

-- A subscription names an endpoint of the file that relays were started with. Endpoints of the database say themselves what they hear
-- of, by their topics.
create table capacity.subscriptions (
  workspace_id text not null references directory.workspaces,
  endpoint text not null check (endpoint ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  event_types public.capacity_request_event_type[],
  enabled boolean not null default true,
  created_at timestamptz not null default now(),
  primary key (workspace_id, endpoint)
);
comment on table capacity.subscriptions
  is 'Endpoints of the relays'' file that get the events of a workspace as CloudEvents. Null types: all of them.';
