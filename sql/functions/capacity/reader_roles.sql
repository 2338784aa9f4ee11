-- For policies: the roles of the member who reads.
create or replace function capacity.reader_roles() returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (capacity.signed_in_member()).roles;
end
$$;
comment on function capacity.reader_roles() is 'The roles of the member who reads. Nullable: result.';
