-- Schedules a sweep every minute in pg_cron, where it exists and permits that; else only the worker sweeps, which is enough. Where both
-- sweep, they share the work. Safe to call again, for example after installing pg_cron later.
create or replace function capacity.schedule_timers() returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  return headroom.schedule_job('capacity-request-timers', 'select capacity.run_timers(1000, ''pg_cron'')', 'capacity-timer-history', 17);
end
$$;
comment on function capacity.schedule_timers() is 'Schedules the timers in pg_cron: says pg_cron, or worker where that cannot be.';
