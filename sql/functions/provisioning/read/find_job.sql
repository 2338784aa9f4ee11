-- A job by its own id or its request's; null if there is none.
create or replace function provisioning.find_job(p_id text) returns provisioning.jobs
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs;
begin
  if p_id ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
    select j.* into v_job from provisioning.jobs j where j.id = p_id::uuid;
  else
    select j.* into v_job from provisioning.jobs j where j.request_id = p_id;
  end if;
  return v_job;
end
$$;
comment on function provisioning.find_job(text) is 'A job by its id or its request''s id. Nullable: result.';
