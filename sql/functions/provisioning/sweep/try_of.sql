-- Which try of a run GitHub reported: a restarted run keeps its id. Servers that report no tries have only the first.
create or replace function provisioning.try_of(p_run jsonb) returns integer
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_run ->> 'attempt' ~ '^[1-9][0-9]{0,5}$' then (p_run ->> 'attempt')::integer else 1 end;
end
$$;
comment on function provisioning.try_of(jsonb) is 'Which try of a run is meant.';
