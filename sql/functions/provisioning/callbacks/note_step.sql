-- Records a heartbeat with the run's step and progress. A changed step is kept; after 200 steps of an attempt only the last one is.
create or replace function provisioning.note_step(p_attempt provisioning.attempts, p_step text, p_progress smallint) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_last smallint;
begin
  update provisioning.attempts a
     set heartbeat_at = clock_timestamp(), step = coalesce(p_step, a.step), progress = coalesce(p_progress, a.progress)
   where a.job_id = p_attempt.job_id and a.task = p_attempt.task and a.number = p_attempt.number;
  if (p_step, p_progress) is distinct from (p_attempt.step, p_attempt.progress) and num_nonnulls(p_step, p_progress) > 0 then
    select coalesce(max(s.n), 0) into v_last from provisioning.steps s
     where s.job_id = p_attempt.job_id and s.task = p_attempt.task and s.attempt = p_attempt.number;
    insert into provisioning.steps (job_id, task, attempt, n, step, progress)
    select p_attempt.job_id, p_attempt.task, p_attempt.number, v_last + 1, p_step, p_progress where v_last < 200;
  end if;
end
$$;
comment on function provisioning.note_step(provisioning.attempts, text, smallint)
  is 'Records a heartbeat with its step and progress. Nullable: p_step, p_progress.';
