-- A secret that may be missing, such as the one that is being replaced.
create or replace function headroom.optional_secret(p_name text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return headroom.get_secret(p_name);
exception when sqlstate 'PT503' then
  return null;
end
$$;
comment on function headroom.optional_secret(text) is 'A secret by name, or null. Nullable: result.';
