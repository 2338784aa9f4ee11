-- Has pg_cron sweep every minute, where it exists and lets us; else the worker's sweep is the only one, and enough. Where both sweep
-- they share the work. Safe to call again: a job of the same name is replaced. Call it after installing pg_cron later on.
--
-- pg_cron keeps a line of every run for ever, so ours are cleared after a week.
create or replace function capacity.schedule_timers() returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(to_regprocedure('cron.schedule(text,text,text)'), to_regprocedure('cron.schedule(name,text,text)')) is null then
    return 'worker';
  end if;
  execute format('select cron.schedule(%L, %L, %L)', 'capacity-request-timers', '* * * * *',
    'select capacity.run_timers(1000, ''pg_cron'')');
  execute format('select cron.schedule(%L, %L, %L)', 'capacity-timer-history', '17 3 * * *',
    'delete from cron.job_run_details d using cron.job j where j.jobid = d.jobid'
    ' and j.jobname in (''capacity-request-timers'', ''capacity-timer-history'') and d.end_time < now() - interval ''7 days''');
  return 'pg_cron';
exception when insufficient_privilege then
  return 'worker';
end
$$;
comment on function capacity.schedule_timers() is 'Schedules the timers in pg_cron: says pg_cron, or worker where that cannot be.';
