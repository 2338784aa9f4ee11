-- An attempt to provision failed: its run is stopped if it may still be going, what it made is cleaned up, and the job waits for a person
-- to try again, or fails permanently after its last attempt. Then it is the turn of the customer's next job.
--
-- Nothing is cleaned up if GitHub certainly refused the dispatch, or no relay ever took it: no run has begun. If that is not certain, a run
-- is stopped anyway. A dispatch that could not be sent until it was given up does not get another attempt.
create or replace function provisioning.attempt_failed(
  p_job provisioning.jobs, p_attempt provisioning.attempts, p_because text, p_error text, p_failed_step text, p_via text,
  p_never_ran boolean default false
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_refused boolean := p_never_ran and p_because = 'not_dispatched';
  v_attempt provisioning.attempts := provisioning.end_attempt(
    p_attempt, case when p_because in ('reported', 'run_ended') or v_refused then 'failed' else 'stopped' end,
    p_because, p_error, p_failed_step, v_refused);
  v_job provisioning.jobs := provisioning.record(p_job, 'FAILED', provisioning.system_actor(p_job.id, p_via));
  v_last boolean := v_job.attempts >= v_job.most_attempts or p_because = 'not_served';
begin
  if v_attempt.status = 'stopped' then
    perform provisioning.stop_run(v_attempt);
  end if;
  if not p_never_ran then
    v_job := provisioning.clean_up(v_job, v_attempt.number);
  end if;
  perform provisioning.tell(v_job, provisioning.failure_words(v_job, v_attempt, v_last), provisioning.error_words(v_attempt), not v_last);
  if v_last then
    perform provisioning.give_up(v_job, p_via, case p_because
      when 'not_served' then format('No run could be asked for within %s hours.', provisioning.give_up_hours(v_job.workspace_id))
      else format('The last of %s attempts failed.', v_job.most_attempts) end);
  end if;
  perform provisioning.pass_turn(v_job);
end
$$;
comment on function provisioning.attempt_failed(provisioning.jobs, provisioning.attempts, text, text, text, text, boolean)
  is 'Ends an attempt that failed and starts what follows. Nullable: p_error, p_failed_step.';
