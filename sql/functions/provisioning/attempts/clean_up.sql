-- Has a workflow clean up after an attempt to provision. A cleanup that fails is tried again after a while, each time longer, up to an
-- hour.
create or replace function provisioning.clean_up(p_job provisioning.jobs, p_cleans smallint) returns provisioning.jobs
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_before integer := (select count(*) from provisioning.attempts a where a.job_id = p_job.id and a.cleans = p_cleans);
  v_number smallint := (select coalesce(max(a.number), 0) + 1 from provisioning.attempts a
                         where a.job_id = p_job.id and a.task = 'cleanup');
  v_job provisioning.jobs;
  v_after timestamptz := case when v_before > 0
    then clock_timestamp() + least(interval '1 minute' * 2 ^ (v_before - 1), interval '1 hour') end;
begin
  update provisioning.jobs j set cleanup = 'under_way', next_look_at = clock_timestamp() where j.id = p_job.id returning j.* into v_job;
  perform provisioning.begin_attempt(v_job, 'cleanup', v_number, p_cleans,
                                     v_after);
  return v_job;
end
$$;
comment on function provisioning.clean_up(provisioning.jobs, smallint) is 'Begins the cleanup after an attempt.';
