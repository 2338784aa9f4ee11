-- The first callback of a run claims the attempt; from then on only that run, and only that try of it, is accepted.
create or replace function provisioning.claim(
  p_job provisioning.jobs, p_attempt provisioning.attempts, p_run_id bigint, p_run_attempt integer,
  out job provisioning.jobs, out attempt provisioning.attempts
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  job := p_job;
  update provisioning.attempts a
     set status = 'claimed', run_id = p_run_id, run_attempt = p_run_attempt, claimed_at = clock_timestamp(),
         heartbeat_at = clock_timestamp()
   where a.job_id = p_attempt.job_id and a.task = p_attempt.task and a.number = p_attempt.number and a.status = 'dispatched'
  returning a.* into strict attempt;
  if attempt.task = 'provision' then
    job := provisioning.record(p_job, 'CLAIMED', provisioning.system_actor(p_job.id, 'callback'));
    perform provisioning.tell(job, format('Provisioning has begun: attempt %s of %s.', attempt.number, job.most_attempts));
  end if;
end
$$;
comment on function provisioning.claim(provisioning.jobs, provisioning.attempts, bigint, integer)
  is 'Binds an attempt to the run that reports first.';
