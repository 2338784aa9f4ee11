-- Who swept last, and when, by the database's clock; runners that never swept are left out.
create or replace function capacity.timers_last_ran() returns table (
  runner text, login text, began_at timestamptz, ended_at timestamptz, seconds_ago integer, failures integer,
  failed_at timestamptz, failed_code text
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select t.runner, t.login, t.began_at, t.ended_at, greatest(0, extract(epoch from clock_timestamp() - t.ended_at))::integer,
         t.failures, t.failed_at, t.failed_code
    from capacity.timer_runs t
   where t.ended_at is not null or t.failed_at is not null
   order by t.ended_at desc nulls last, t.runner
$$;
comment on function capacity.timers_last_ran() is
  'The last sweep of the timers by each runner. Nullable: login, began_at, ended_at, seconds_ago, failed_at, failed_code.';
