-- Makes pg_cron run a statement every minute, if it exists and we may use it; returns pg_cron, or worker if that is not possible. Safe to
-- call again: a job of the same name is replaced.
--
-- pg_cron keeps a line of every run forever, so ours are deleted after a week, by a separate job (p_history) that runs p_cleared minutes
-- after three in the morning.
create or replace function headroom.schedule_job(p_name text, p_command text, p_history text, p_cleared integer) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(to_regprocedure('cron.schedule(text,text,text)'), to_regprocedure('cron.schedule(name,text,text)')) is null then
    return 'worker';
  end if;
  execute format('select cron.schedule(%L, %L, %L)', p_name, '* * * * *', p_command);
  execute format('select cron.schedule(%L, %L, %L)', p_history, format('%s 3 * * *', p_cleared), format(
    'delete from cron.job_run_details d using cron.job j where j.jobid = d.jobid and j.jobname in (%L, %L)'
    ' and d.end_time < now() - interval ''7 days''', p_name, p_history));
  return 'pg_cron';
exception when insufficient_privilege then
  return 'worker';
end
$$;
comment on function headroom.schedule_job(text, text, text, integer)
  is 'Schedules a job in pg_cron: returns pg_cron, or worker where that is not possible.';
