-- Requests another attempt of a failed job: for the requester, operators and admins, with a reason.
create or replace function public.retry_provisioning_job(
  p_job_id text, p_reason text, p_actor_id text default null, p_expected_version integer default null
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := provisioning.job_for(p_job_id, p_actor_id);
  v_job provisioning.jobs;
begin
  -- A separate statement, because job_json() is stable and would not see what the same statement wrote.
  v_job := provisioning.retry((v_found.job).request_id, v_found.actor, p_reason, p_expected_version);
  return provisioning.job_json(v_job);
end
$$;
comment on function public.retry_provisioning_job(text, text, text, integer) is 'Requests another attempt of a provisioning job.';
