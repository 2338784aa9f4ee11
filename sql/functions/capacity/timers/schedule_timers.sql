-- Has pg_cron sweep every minute, where it exists and lets us; else the worker's sweep is the only one, and enough. Where both sweep
-- they share the work. Safe to call again. Call it after installing pg_cron later on.
create or replace function capacity.schedule_timers() returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  return headroom.schedule_job('capacity-request-timers', 'select capacity.run_timers(1000, ''pg_cron'')', 'capacity-timer-history', 17);
end
$$;
comment on function capacity.schedule_timers() is 'Schedules the timers in pg_cron: says pg_cron, or worker where that cannot be.';
