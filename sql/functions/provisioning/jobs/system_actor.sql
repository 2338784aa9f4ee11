-- The actor when no person acts: the job itself.
create or replace function provisioning.system_actor(p_job_id uuid, p_via text) returns capacity.actor
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return row('system', 'job:' || p_job_id, p_via)::capacity.actor;
end
$$;
comment on function provisioning.system_actor(uuid, text) is 'The actor of what a job does automatically.';
