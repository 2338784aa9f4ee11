-- A person has cleaned up after a failed cleanup: nothing is left running, reminders stop, and an attempt that waited for it may begin.
create or replace function provisioning.record_cleanup(
  p_request_id text, p_actor capacity.actor, p_reason text, p_expected_version integer default null
) returns provisioning.jobs
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs := provisioning.lock_job(p_request_id);
  v_reason text;
begin
  perform headroom.refuse(provisioning.person_refusal(v_job, p_actor.id, 'clean'));
  v_reason := provisioning.check_reason(v_job, p_reason, p_expected_version);
  perform headroom.refuse(provisioning.action_refusal(v_job, p_actor.id, 'clean'));
  perform capacity.count_act(v_job.request_id, p_actor);
  v_job := provisioning.record(v_job, 'CLEANED', p_actor, v_reason);
  update provisioning.jobs j set cleanup = 'done' where j.id = v_job.id returning j.* into v_job;
  perform provisioning.tell(v_job, format('%s cleaned up by hand.', provisioning.name_of(v_job.workspace_id, p_actor.id)), v_reason);
  perform provisioning.pass_turn(v_job);
  return v_job;
end
$$;
comment on function provisioning.record_cleanup(text, capacity.actor, text, integer)
  is 'Records that a person cleaned up after a job. Nullable: p_expected_version.';
