-- A cleanup ended. If it succeeded, an attempt that waited for it may begin. If not, it is tried again. If that does not help either,
-- operators are told that something may be left running, and no attempt of the job begins until one of them has cleaned up. The customer's
-- other jobs do not wait for that.
create or replace function provisioning.cleanup_ended(
  p_job provisioning.jobs, p_attempt provisioning.attempts, p_succeeded boolean, p_because text, p_error text default null,
  p_failed_step text default null, p_never_ran boolean default false
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text := case when p_succeeded then 'succeeded' when p_because in ('reported', 'run_ended') or p_never_ran then 'failed'
                        else 'stopped' end;
  v_attempt provisioning.attempts := provisioning.end_attempt(p_attempt, v_status, p_because, p_error, p_failed_step,
                                                                   p_never_ran);
  v_job provisioning.jobs := p_job;
  v_max smallint := (select s.most_cleanups from provisioning.settings s where s.workspace_id = p_job.workspace_id);
begin
  if v_status = 'stopped' then
    perform provisioning.stop_run(v_attempt);
  end if;
  if p_succeeded then
    update provisioning.jobs j set cleanup = 'done', next_look_at = clock_timestamp() where j.id = p_job.id returning j.* into v_job;
    perform provisioning.tell(v_job, format('The cleanup after attempt %s is done.', v_attempt.cleans));
  elsif p_because <> 'not_served'
        and (select count(*) from provisioning.attempts a where a.job_id = p_job.id and a.cleans = v_attempt.cleans) < v_max then
    perform provisioning.clean_up(p_job, v_attempt.cleans);
  else
    update provisioning.jobs j
       set cleanup = 'failed', next_look_at = clock_timestamp(), asked_for = 'cleanup_failed', asked_since = clock_timestamp()
     where j.id = p_job.id returning j.* into v_job;
    perform provisioning.tell(v_job, format(
      'The cleanup after attempt %s %s: something may be left running. An operator has to clean up by hand, and then run: '
      'headroom jobs cleaned %s%s', v_attempt.cleans,
      case p_because when 'not_served' then 'could not be asked for' else format('failed %s times', v_max) end, v_job.request_id,
      case when v_job.state in ('waiting', 'failed') then format(
        '. No attempt begins before that, and after %s hours the request fails permanently%s.',
        provisioning.give_up_hours(v_job.workspace_id), provisioning.money_words(v_job.request_id)) end),
      provisioning.error_words(v_attempt), true);
  end if;
  perform provisioning.pass_turn(v_job);
end
$$;
comment on function provisioning.cleanup_ended(provisioning.jobs, provisioning.attempts, boolean, text, text, text, boolean)
  is 'Ends a cleanup and starts what follows. Nullable: p_error, p_failed_step.';
