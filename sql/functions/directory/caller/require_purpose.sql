-- For acts of our own server that are on nobody's behalf. The server states a purpose as well as the role; no key that is handed out has
-- one, so that a service key, which may act for members, cannot give itself permanent access.
create or replace function directory.require_purpose(p_purpose text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  perform directory.check_api_key();
  if current_setting('role', true) is distinct from 'service_role' or headroom.claims() ->> 'purpose' is distinct from p_purpose then
    perform headroom.fail('not_allowed', 'Only the server itself may do this.');
  end if;
end
$$;
comment on function directory.require_purpose(text) is 'Raises not_allowed unless our own server asks, for this purpose.';
