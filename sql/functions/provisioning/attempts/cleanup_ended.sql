-- A cleanup ended. If it succeeded, an attempt that waited for it may begin; if not, it is tried again, and when that does not help either,
-- operators are told that something may be left running.
create or replace function provisioning.cleanup_ended(
  p_job provisioning.jobs, p_attempt provisioning.attempts, p_succeeded boolean, p_because text, p_error text default null,
  p_failed_step text default null
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text := case when p_succeeded then 'succeeded' when p_because in ('stale', 'time_limit', 'rerun') then 'stopped'
                        else 'failed' end;
  v_attempt provisioning.attempts := provisioning.end_attempt(p_attempt, v_status, p_because, p_error, p_failed_step);
  v_job provisioning.jobs := p_job;
  v_most smallint := (select s.most_cleanups from provisioning.settings s where s.workspace_id = p_job.workspace_id);
begin
  if v_status = 'stopped' then
    perform provisioning.stop_run(v_attempt);
  end if;
  if p_succeeded then
    update provisioning.jobs j set cleanup = 'done', next_look_at = clock_timestamp() where j.id = p_job.id returning j.* into v_job;
    perform provisioning.tell(v_job, format('The cleanup after attempt %s is done.', v_attempt.cleans));
    perform provisioning.start_next(v_job);
  elsif (select count(*) from provisioning.attempts a where a.job_id = p_job.id and a.cleans = v_attempt.cleans) < v_most then
    perform provisioning.clean_up(p_job, v_attempt.cleans);
  else
    update provisioning.jobs j set cleanup = 'failed', next_look_at = clock_timestamp() where j.id = p_job.id returning j.* into v_job;
    perform provisioning.tell(v_job, format(
      'The cleanup after attempt %s failed %s times: something may be left running. An operator sees to it by hand, and says so with: '
      'headroom jobs cleaned %s',
      v_attempt.cleans, v_most, v_job.request_id), provisioning.error_words(v_attempt), true);
  end if;
end
$$;
comment on function provisioning.cleanup_ended(provisioning.jobs, provisioning.attempts, boolean, text, text, text)
  is 'Ends a cleanup and sees to what follows. Nullable: p_error, p_failed_step.';
