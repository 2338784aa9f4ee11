-- Records by hand how provisioning ended: the capacity was bought elsewhere, or the job is not worth another attempt. The reducer moves the
-- request, and its hook ends the job: a run that is under way is stopped.
create or replace function provisioning.record_outcome(
  p_request_id text, p_actor capacity.actor, p_running boolean, p_reason text, p_expected_version integer default null
) returns provisioning.jobs
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs := provisioning.lock_job(p_request_id);
begin
  perform headroom.refuse(provisioning.person_refusal(v_job, p_actor.id, 'record'));
  perform capacity.decide(v_job.request_id,
    case when p_running then 'PROVISIONING_COMPLETE' else 'PROVISIONING_FAILED' end::public.capacity_request_event_type, p_actor,
    jsonb_build_object('job_id', v_job.id, 'reason', provisioning.check_reason(v_job, p_reason, p_expected_version)));
  select j.* into v_job from provisioning.jobs j where j.id = v_job.id;
  return v_job;
end
$$;
comment on function provisioning.record_outcome(text, capacity.actor, boolean, text, integer)
  is 'Records by hand that a job runs or failed. Nullable: p_expected_version.';
