-- Locks a job for a change: its request first, as for everything that may post to it, then the customer's turn. The job is read once both
-- are held. Null for a request without a job.
create or replace function provisioning.lock_job(p_request_id text) returns provisioning.jobs
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs;
begin
  perform from capacity.requests r where r.id = p_request_id for update;
  select j.* into v_job from provisioning.jobs j where j.request_id = p_request_id;
  if v_job.id is not null then
    perform provisioning.lock_turn(v_job.workspace_id, v_job.customer_key);
    select j.* into v_job from provisioning.jobs j where j.request_id = p_request_id;
  end if;
  return v_job;
end
$$;
comment on function provisioning.lock_job(text) is 'The job of a request, locked with it. Nullable: result.';
