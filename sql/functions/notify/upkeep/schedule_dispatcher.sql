-- Has pg_cron send what is due every minute, where it exists and lets us; relays that run all the time do so every few seconds. Where both
-- do, they share the work. Safe to call again: a job of the same name is replaced.
create or replace function notify.schedule_dispatcher() returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(to_regprocedure('cron.schedule(text,text,text)'), to_regprocedure('cron.schedule(name,text,text)')) is null then
    return 'worker';
  end if;
  execute format('select cron.schedule(%L, %L, %L)', 'process-notifications', '* * * * *', 'select notify.dispatch()');
  execute format('select cron.schedule(%L, %L, %L)', 'process-notifications-history', '27 3 * * *',
    'delete from cron.job_run_details d using cron.job j where j.jobid = d.jobid'
    ' and j.jobname in (''process-notifications'', ''process-notifications-history'') and d.end_time < now() - interval ''7 days''');
  return 'pg_cron';
exception when insufficient_privilege then
  return 'worker';
end
$$;
comment on function notify.schedule_dispatcher()
  is 'Schedules the sending of notifications in pg_cron: says pg_cron, or worker where that cannot be.';
