-- Who ran the timers last, and under which key secrets are sealed.

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
insert into capacity.timer_runs (runner) values ('worker'), ('server'), ('turn'), ('pg_cron'), ('call');
comment on table capacity.timer_runs is 'The last sweep of the timers by each kind of runner.';
comment on column capacity.timer_runs.began_at is 'Of the last sweep that came to its end.';
comment on column capacity.timer_runs.failures is 'On how many requests a timer failed in it; capacity.timer_failures names them.';
comment on column capacity.timer_runs.failed_at is 'When a sweep last failed as a whole, and was rolled back.';

-- It says who calls from now on.
drop function if exists public.run_capacity_request_timers(integer);

-- Under which key secrets are sealed: one for all processes, so that those which hold two keys, as while the key is being changed, agree.
create table capacity.sealing_key (
  only_one boolean primary key default true check (only_one),
  key_id bytea not null check (octet_length(key_id) = 8),
  since timestamptz not null default clock_timestamp()
);
comment on table capacity.sealing_key is 'The id of the key that secrets are sealed under; no row before the first one is sealed.';
comment on column capacity.sealing_key.key_id is 'As capacity.key_id() makes it: the key cannot be told from it.';

-- It can keep the secret before, from now on.
drop function if exists capacity.set_secret(text, text);
