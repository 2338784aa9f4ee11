-- A job fails permanently, and its request with it: no attempt is left, or nobody asked for another in time.
create or replace function provisioning.give_up(p_job provisioning.jobs, p_via text, p_why text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs := provisioning.record(p_job, 'GAVE_UP', provisioning.system_actor(p_job.id, p_via));
  v_attempt provisioning.attempts;
begin
  select a.* into v_attempt from provisioning.attempts a where a.job_id = v_job.id and a.task = 'provision' and a.number = v_job.attempts;
  perform capacity.decide(v_job.request_id, 'PROVISIONING_FAILED', provisioning.system_actor(v_job.id, p_via),
    jsonb_strip_nulls(jsonb_build_object(
      'job_id', v_job.id, 'run_id', v_attempt.run_id, 'reason', p_why, 'error', provisioning.error_words(v_attempt))));
end
$$;
comment on function provisioning.give_up(provisioning.jobs, text, text) is 'Ends a failed job and its request permanently.';
