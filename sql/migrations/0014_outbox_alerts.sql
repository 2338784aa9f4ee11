-- Who is told when rows die: alerts, each with the endpoint that it goes to, and what was said last about each stream and rail.
create table outbox.alerts (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  endpoint text not null references outbox.endpoints on delete cascade,
  template text not null default 'event' check (template in ('event', 'pagerduty')),
  routing_key text check (length(routing_key) between 8 and 200 and routing_key !~ '[^!-~]'),
  streams text[],
  repeat_minutes integer not null default 60 check (repeat_minutes between 1 and 10080),
  created_at timestamptz not null default now(),
  check ((template = 'pagerduty') = (routing_key is not null))
);
create index alerts_by_endpoint on outbox.alerts (endpoint);
comment on table outbox.alerts is 'Who is told when rows are given up, and again when none is left.';
comment on column outbox.alerts.routing_key is 'PagerDuty''s integration key, which goes into the body of its events when they are sent; it stands in no row.';
comment on column outbox.alerts.streams is 'Which streams it watches; null: all.';
comment on column outbox.alerts.repeat_minutes is 'How long it is quiet about a stream and rail, unless all is well there again.';

-- A row for as long as an alert is raised.
create table outbox.alerts_raised (
  alert text not null references outbox.alerts on delete cascade,
  stream_id smallint not null references outbox.streams,
  rail_id smallint not null references outbox.rails,
  raised_at timestamptz not null default now(),
  said_at timestamptz not null default now(),
  last_died_at timestamptz not null,
  primary key (alert, stream_id, rail_id)
);
comment on column outbox.alerts_raised.last_died_at is 'When the newest dead letter that was told of died.';

-- Ordered, so that all is well comes after all is not; of what could not be sent yet only the last counts.
insert into outbox.streams
  (name, ordered, on_dead, carries_money, resend_blind, max_tries, backoff_factor, backoff_cap_ms, class_id, dedupe_days) values
  ('alerts', true, 'skip', false, true, 12, 3, 3600000, 3, 180);

insert into outbox.renderers (name, function_name) values ('alert', 'outbox.render_alert');
