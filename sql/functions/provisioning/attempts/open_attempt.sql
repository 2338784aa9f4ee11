-- The attempt of a task that is under way; at most one exists.
create or replace function provisioning.open_attempt(p_job_id uuid, p_task text) returns provisioning.attempts
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select a from provisioning.attempts a
   where a.job_id = p_job_id and a.task = p_task and a.status in ('dispatched', 'claimed')
   order by a.number desc limit 1;
$$;
comment on function provisioning.open_attempt(uuid, text) is 'The attempt of a job that has not ended. Nullable: result.';
