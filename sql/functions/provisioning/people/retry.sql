-- Asks for another attempt. It begins when the cleanup after the last one is done and no other job of the customer is in progress. Asking
-- twice asks once: a job that already waits for its next attempt is returned as it is.
create or replace function provisioning.retry(
  p_request_id text, p_actor capacity.actor, p_reason text, p_expected_version integer default null
) returns provisioning.jobs
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs := provisioning.lock_job(p_request_id);
  v_reason text;
begin
  perform headroom.refuse(provisioning.person_refusal(v_job, p_actor.id, 'retry'));
  v_reason := provisioning.check_reason(v_job, p_reason, p_expected_version);
  if provisioning.is_retried(v_job) then
    return v_job;
  end if;
  perform headroom.refuse(provisioning.action_refusal(v_job, p_actor.id, 'retry'));
  perform capacity.count_act(v_job.request_id, p_actor);
  v_job := provisioning.record(v_job, 'RETRIED', p_actor, v_reason);
  perform provisioning.pass_turn(v_job);
  perform provisioning.tell(v_job, format('%s asked for another attempt: %s of %s.%s', provisioning.name_of(v_job.workspace_id, p_actor.id),
    v_job.attempts + 1, v_job.most_attempts, coalesce(' ' || provisioning.held_words(v_job.id), '')), v_reason);
  select j.* into v_job from provisioning.jobs j where j.id = v_job.id;
  return v_job;
end
$$;
comment on function provisioning.retry(text, capacity.actor, text, integer)
  is 'Asks for another attempt of a failed job. Nullable: p_expected_version.';
