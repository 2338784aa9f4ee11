-- The mark in the name of an attempt's run: the only way to find the run at GitHub before it has reported.
create or replace function provisioning.run_mark(p_job_id uuid, p_task text, p_number smallint) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return p_job_id || '/' || case p_task when 'cleanup' then 'cleanup-' else '' end || p_number;
end
$$;
comment on function provisioning.run_mark(uuid, text, smallint) is 'The mark in the name of an attempt''s run.';
