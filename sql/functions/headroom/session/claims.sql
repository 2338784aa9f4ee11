-- The claims of a verified token. PostgREST, our own gateway and Supabase's Realtime (two logins that are the platform's alone) verify the
-- token and then set the claims; in any other session the author of the SQL could have set them, so there they count for nothing. A definer
-- function changes current_user, not session_user, so the question is always about the login.
create or replace function headroom.claims() returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims jsonb;
begin
  if session_user not in ('authenticator', 'headroom_gateway', 'supabase_realtime_admin', 'supabase_admin') then
    return null;
  end if;
  v_claims := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  return case when jsonb_typeof(v_claims) = 'object' then v_claims end;
exception when data_exception or program_limit_exceeded then
  return null;
end
$$;
comment on function headroom.claims() is 'The claims of a verified token, or null where nobody verified one. Nullable: result.';
