-- How long a run may continue after its attempt was ended: the limit of an attempt, which each workflow's own limit is below, plus the time
-- that GitHub may take to end it.
create or replace function provisioning.run_limit(p_workspace_id text) returns interval
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select make_interval(
           mins => coalesce((select s.limit_minutes from provisioning.settings s where s.workspace_id = p_workspace_id), 15) + 10);
$$;
comment on function provisioning.run_limit(text) is 'How long a stopped run may still continue.';
