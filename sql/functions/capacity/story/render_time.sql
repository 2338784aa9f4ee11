-- A point in time, given in seconds since 1970: to the minute for people, or exact for machines. Always in UTC; null for
-- anything that is not such a number.
create or replace function capacity.render_time(p_seconds jsonb, p_exact boolean default false) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  -- A year beyond 9999 would mean nothing to readers, and to_timestamp() would refuse the largest values.
  if jsonb_typeof(p_seconds) is distinct from 'number' or (p_seconds)::numeric not between -62135596800 and 253402300799 then
    return null;
  end if;
  return to_char((timestamp '1970-01-01' + p_seconds::numeric * interval '1 s'),
                 case when p_exact then 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"' else 'YYYY-MM-DD HH24:MI "UTC"' end);
end
$$;
comment on function capacity.render_time(jsonb, boolean) is 'A time for people, or exactly. Nullable: result.';
