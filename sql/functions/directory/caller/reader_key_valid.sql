-- For policies and views: whether the key that a machine reads with is still valid. Every exposed view checks it as well as the policy
-- `machines`, because a role with BYPASSRLS, such as Supabase's service_role, bypasses the policies. Kept for the transaction, and trusted,
-- in the same way as reader.sql. Where the login does not verify tokens, there is no key that could have been revoked; and a member whose
-- key or session was revoked is nobody for the policies already, so nothing is looked up for members here.
create or replace function directory.reader_key_valid() returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_made_from text := concat_ws(' ', session_user, current_setting('role', true), pg_current_snapshot()) || ' ' || headroom.claims_text();
begin
  if current_setting('role', true) = 'authenticated' then
    return true;
  elsif v_made_from is null or current_setting('role', true) is distinct from 'service_role' then
    return directory.revocation() is null;
  elsif current_setting('headroom.reader_made_from', true) = v_made_from and not pg_is_in_recovery() then
    return current_setting('headroom.reader', true) = 'valid';
  end if;
  return directory.resolve_reader(v_made_from) = 'valid';
end
$$;
comment on function directory.reader_key_valid() is 'Whether the key of the machine that reads is still valid.';
