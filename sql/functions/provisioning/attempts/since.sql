-- The time from which to look for the runs of an attempt, as GitHub writes times; the rail allows for clocks that differ.
create or replace function provisioning.since(p_attempt provisioning.attempts) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return to_char(p_attempt.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
end
$$;
comment on function provisioning.since(provisioning.attempts) is 'The time from which runs of an attempt can exist.';
