-- Who is told when rows die: alerts, each with the endpoint that it goes to, and what was said last about each stream and rail.
create table webhooks.alerts (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  -- Not on delete cascade: whoever removes an endpoint is told which alerts would fall silent.
  endpoint_id uuid not null references webhooks.endpoints,
  template text not null default 'event' check (template in ('event', 'pagerduty')),
  routing_key text check (length(routing_key) between 8 and 200 and routing_key !~ '[^!-~]'),
  streams text[],
  repeat_minutes integer not null default 60 check (repeat_minutes between 1 and 10080),
  created_at timestamptz not null default now(),
  check ((template = 'pagerduty') = (routing_key is not null))
);
create index alerts_by_endpoint on webhooks.alerts (endpoint_id);
comment on table webhooks.alerts is 'Who is told when rows are given up, and again when none is left.';
comment on column webhooks.alerts.routing_key
  is 'PagerDuty''s integration key, which goes into the body of its events when they are sent; it stands in no row.';
comment on column webhooks.alerts.streams is 'Which streams it watches; null: all.';
comment on column webhooks.alerts.repeat_minutes
  is 'How long it is quiet about a stream and rail, unless all is well there again.';

-- A row for as long as an alert is raised.
create table webhooks.alerts_raised (
  alert text not null references webhooks.alerts on delete cascade,
  stream text not null,
  rail text not null,
  raised_at timestamptz not null default now(),
  said_at timestamptz not null default now(),
  last_died_at timestamptz not null,
  primary key (alert, stream, rail)
);
comment on column webhooks.alerts_raised.last_died_at is 'When the newest dead letter that was told of died.';
