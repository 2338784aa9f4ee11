-- This process's current key (HEADROOM_SECRET_KEY); refuses when it is missing or too short.
create or replace function headroom.current_key() returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := nullif(current_setting('headroom.secret_key', true), '');
begin
  if v_key is null or octet_length(v_key) < 32 then
    perform headroom.fail('not_configured', 'There is no key to encrypt secrets with.',
      'headroom.secret_key is missing or shorter than 32 bytes',
      'Set HEADROOM_SECRET_KEY for this process, for example to the output of: openssl rand -hex 32');
  end if;
  return v_key;
end
$$;
comment on function headroom.current_key() is 'The current key of this process; refuses when it is missing or too short.';
