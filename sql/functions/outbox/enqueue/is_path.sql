-- Whether JSON is a path into JSON: a list of at most 32 names and positions.
create or replace function outbox.is_path(p_path jsonb) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(jsonb_typeof(p_path) = 'array' and jsonb_array_length(p_path) <= 32
    and not exists (select from jsonb_array_elements(p_path) s
                     where jsonb_typeof(s) not in ('string', 'number')
                        or jsonb_typeof(s) = 'number' and s #>> '{}' !~ '^[0-9]{1,4}$'), false);
end
$$;
comment on function outbox.is_path(jsonb) is 'Whether JSON is a path of names and places.';
