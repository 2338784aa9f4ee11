-- For policies: the roles of the member who reads.
create or replace function directory.reader_roles() returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (directory.reader()).roles;
end
$$;
comment on function directory.reader_roles() is 'The roles of the member who reads. Nullable: result.';
