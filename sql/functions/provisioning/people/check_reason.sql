-- A person who changes a job must give a reason, and the job must be as they saw it.
create or replace function provisioning.check_reason(p_job provisioning.jobs, p_reason text, p_expected_version integer) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := headroom.reason_in(p_reason);
begin
  if p_expected_version <> p_job.version then
    perform headroom.fail('stale_version', 'The job has changed since you looked at it.',
      format('version %s, expected %s', p_job.version, p_expected_version), 'Read it again. Nothing was changed.');
  end if;
  return v_reason;
end
$$;
comment on function provisioning.check_reason(provisioning.jobs, text, integer)
  is 'The reason that a person gave, once it is valid. Nullable: p_expected_version.';
