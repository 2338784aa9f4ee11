-- For what our own server does on nobody's behalf. It states a purpose beside the role; no key that is handed out carries one, so that
-- a service key, which may act for members, cannot make itself a lasting way in.
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
