-- What the timers remember: who ran them last, where they failed, and when to look again.

-- One row for each kind of runner, made here: sweeps update theirs and never add one, so that the table does not grow and no sweep
-- waits for another.
create table capacity.timer_runs (
  runner text primary key check (runner in ('worker', 'server', 'turn', 'pg_cron', 'call')),
  login text,
  began_at timestamptz,
  ended_at timestamptz,
  failures integer not null default 0,
  failed_at timestamptz,
  failed_code text check (length(failed_code) <= 64)
) with (fillfactor = 50);
comment on table capacity.timer_runs is 'The last sweep of the timers by each kind of runner.';
comment on column capacity.timer_runs.began_at is 'Of the last sweep that came to its end.';
comment on column capacity.timer_runs.failures is 'On how many requests a timer failed in it; capacity.timer_failures names them.';
comment on column capacity.timer_runs.failed_at is 'When a sweep last failed as a whole, and was rolled back.';
insert into capacity.timer_runs (runner) values ('worker'), ('server'), ('turn'), ('pg_cron'), ('call');

create table capacity.timer_failures (
  request_id text not null,
  timer text not null,
  failures integer not null default 1,
  error_code text not null,
  message text not null,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  retry_at timestamptz not null,
  primary key (request_id, timer)
);
comment on table capacity.timer_failures
  is 'Requests on which a timer failed: each is left alone for a while, and none stops the others.';

-- Reviews that are late stay late: without a note of when to look again, each sweep would read all of them each minute. Written
-- by the sweep alone, so that deciding a request costs nothing more.
create table capacity.review_looks (
  request_id text primary key,
  next_look_at timestamptz not null
);
create index review_looks_age on capacity.review_looks (next_look_at);
comment on table capacity.review_looks is 'When the sweep looks again at a request whose review is late. A missing row: at once.';
