-- The job that a person wants to change, and the person. A person who may not see the job is told that it does not exist, before any other
-- argument is checked.
create or replace function provisioning.job_for(p_id text, p_actor_id text, out job provisioning.jobs, out actor capacity.actor)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
begin
  job := provisioning.find_job(p_id);
  if job.id is null and v_caller.kind <> 'anon'
     or v_caller.kind = 'member' and (v_caller.workspace_id <> job.workspace_id or not provisioning.may_see(job, v_caller.member_id)) then
    perform headroom.refuse(provisioning.no_such_job(p_id));
  end if;
  actor := capacity.acting('user', p_actor_id, job.workspace_id);
end
$$;
comment on function provisioning.job_for(text, text)
  is 'A job that the actor may see, and the actor; else the one refusal. Nullable: p_actor_id.';
