-- The claims of a verified token as they were set, empty if none were. PostgREST, our own gateway and Supabase's Realtime (two logins that
-- only the platform uses) verify the token and then set the claims; in any other session the author of the SQL could have set them, so they
-- are ignored there. A definer function changes current_user, not session_user, so the check is always about the login.
create or replace function headroom.claims_text() returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if session_user in ('authenticator', 'headroom_gateway', 'supabase_realtime_admin', 'supabase_admin') then
    return coalesce(current_setting('request.jwt.claims', true), '');
  end if;
  return null;
end
$$;
comment on function headroom.claims_text()
  is 'The claims of a verified token as text, or null where nobody verifies tokens. Nullable: result.';
