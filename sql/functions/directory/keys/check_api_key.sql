-- Refuses a key that was revoked, and a session in a browser that began before its member was signed out.
create or replace function directory.check_api_key() returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_why text := directory.revocation();
begin
  if v_why is not null then
    perform headroom.fail('not_signed_in', v_why, null, 'Sign in again. For a new key ask an operator: headroom keys token');
  end if;
end
$$;
comment on function directory.check_api_key() is 'Raises not_signed_in when the key or the session was revoked.';
