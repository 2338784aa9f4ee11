-- The jobs of a workspace for the command line, newest first; of all workspaces if none is named.
create or replace function provisioning.list_jobs(
  p_workspace_id text default null, p_states text[] default null, p_limit integer default 50
) returns table (
  id uuid, request_id text, workspace_id text, status public.provisioning_job_status, state text, attempts smallint, most_attempts smallint,
  cleanup text, held_by text, run_id bigint, step text, progress smallint, error text, created_at timestamptz, updated_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    perform headroom.fail('invalid_input', 'A list has 1 to 10000 jobs.');
  end if;
  return query
  select j.id, j.request_id, j.workspace_id, j.status, j.state, j.attempts, j.most_attempts, j.cleanup, provisioning.held_by(j.id),
         a.run_id, a.step, a.progress, a.error, j.created_at, j.updated_at
    from provisioning.jobs j
    left join provisioning.attempts a on a.job_id = j.id and a.task = 'provision' and a.number = j.attempts
   where (p_workspace_id is null or j.workspace_id = p_workspace_id) and (p_states is null or j.state = any (p_states))
   order by j.created_at desc, j.id desc limit p_limit;
end
$$;
comment on function provisioning.list_jobs(text, text[], integer)
  is 'Jobs with the status of their last attempt. Nullable: held_by, run_id, step, progress, error.';
