-- For policies: whether what a machine reads with still counts. Kept for the transaction, and believed, exactly as who reads is (reader.sql
-- beside this). Where nobody verifies tokens, there is no key that could have been revoked.
create or replace function directory.reader_key_valid() returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_made_from text := concat_ws(' ', session_user, current_setting('role', true), pg_current_snapshot()) || ' ' || headroom.claims_text();
begin
  if v_made_from is null or current_setting('role', true) <> 'service_role' then
    return directory.revocation() is null;
  elsif current_setting('headroom.reader_made_from', true) = v_made_from and not pg_is_in_recovery() then
    return current_setting('headroom.reader', true) = 'valid';
  end if;
  return directory.resolve_reader(v_made_from) = 'valid';
end
$$;
comment on function directory.reader_key_valid() is 'Whether the key of the machine that reads was not revoked.';
