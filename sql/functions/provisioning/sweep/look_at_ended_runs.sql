-- Checks runs that may continue although we ended their attempt. GitHub is asked about them; after run_limit() people are told, and nothing
-- waits for the run any longer.
create or replace function provisioning.look_at_ended_runs(p_job provisioning.jobs) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt provisioning.attempts;
  v_limit interval := provisioning.run_limit(p_job.workspace_id);
begin
  for v_attempt in select a.* from provisioning.attempts a where a.job_id = p_job.id and a.ended_at is not null and a.over_at is null loop
    if v_attempt.ended_at <= now() - v_limit then
      perform provisioning.run_over(v_attempt, 'limit');
      perform provisioning.tell(p_job, format(
        'The run of %s %s is not known to have ended, %s minutes after it was told to stop, and may still go on: an operator has to check '
        'it at GitHub. Other attempts for this customer no longer wait for it.',
        case v_attempt.task when 'cleanup' then 'cleanup' else 'attempt' end, v_attempt.number,
        round(extract(epoch from v_limit) / 60)), v_attempt.run_url, true);
    elsif greatest(v_attempt.ended_at, v_attempt.watched_at) < now() - interval '2 minutes' then
      perform provisioning.watch_run(v_attempt);
    end if;
  end loop;
end
$$;
comment on function provisioning.look_at_ended_runs(provisioning.jobs)
  is 'Asks about stopped runs, and waits for none beyond the limit.';
