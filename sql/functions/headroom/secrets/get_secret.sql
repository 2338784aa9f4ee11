-- A secret by name, for the functions that need one. No other role may execute it, and it is not in an exposed schema: over HTTP it would
-- give every credential to anybody who asks.
create or replace function headroom.get_secret(p_name text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_value text := headroom.open_box(p_name);
begin
  if coalesce(v_value, '') = '' then
    perform headroom.fail('not_configured', 'Something that this needs has not been set up yet.',
      format('the secret %s is missing or cannot be read', p_name),
      format('An operator stores it with headroom.set_secret(''%s'', …), under the HEADROOM_SECRET_KEY that all processes share, '
             'or in Vault.', p_name));
  end if;
  return v_value;
end
$$;
comment on function headroom.get_secret(text) is 'A secret by name; refuses when it is missing or cannot be read.';
