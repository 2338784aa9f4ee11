-- What a person does to a job has a reason, and is done to the job that they saw.
create or replace function provisioning.check_reason(p_job provisioning.jobs, p_reason text, p_expected_version integer) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := btrim(p_reason, E' \n\t');
begin
  if coalesce(length(v_reason), 0) not between 1 and 2000 or v_reason !~ '[^\s\u00a0\u200b-\u200f\u2028-\u202f\u2060\ufeff]'
     or v_reason ~ '[\u0001-\u0008\u000b-\u001f\u007f-\u009f]' then
    perform headroom.fail('invalid_input', 'This needs a reason: 1 to 2000 characters, none of them control characters.', null,
                          'Nothing was changed.');
  elsif p_expected_version <> p_job.version then
    perform headroom.fail('stale_version', 'The job has changed since you looked at it.',
      format('version %s, expected %s', p_job.version, p_expected_version), 'Read it again. Nothing was changed.');
  end if;
  return v_reason;
end
$$;
comment on function provisioning.check_reason(provisioning.jobs, text, integer)
  is 'The reason that somebody gave, if it is one. Nullable: p_expected_version.';
