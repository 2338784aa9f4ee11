-- For policies: whether what a machine reads with still counts. Asked once per query, like its neighbours.
create or replace function directory.reader_key_valid() returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return directory.revocation() is null;
end
$$;
comment on function directory.reader_key_valid() is 'Whether the key of the machine that reads was not revoked.';
