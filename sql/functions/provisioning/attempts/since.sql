-- From when on the runs of an attempt are looked for: GitHub's clock and ours differ by seconds.
create or replace function provisioning.since(p_attempt provisioning.attempts) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return to_char((p_attempt.created_at - interval '1 minute') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
end
$$;
comment on function provisioning.since(provisioning.attempts) is 'The time from which on runs of an attempt can exist.';
