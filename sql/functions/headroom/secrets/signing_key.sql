-- The key to sign something with: a secret that is long enough. A secret that was not stored by set_secret() may be short enough to be
-- guessed from a single signature, and is treated as missing.
create or replace function headroom.signing_key(p_name text) returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := convert_to(headroom.get_secret(p_name), 'UTF8');
begin
  if octet_length(v_key) < 32 then
    perform headroom.fail('not_configured', 'Something that this needs has not been set up yet.',
      format('the secret %s is shorter than 32 bytes', p_name),
      'An operator stores a longer one, for example the output of: openssl rand -hex 32');
  end if;
  return v_key;
end
$$;
comment on function headroom.signing_key(text) is 'A secret to sign with; refuses when it is missing or too short.';
