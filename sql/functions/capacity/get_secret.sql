-- A secret by name, for the functions that need one: from Vault where it is, else from the encrypted table. Executable by
-- nobody else, and not in an exposed schema: over HTTP it would hand every credential to whoever asks. Whatever goes wrong
-- inside Vault or the cipher is answered by the same sentence, since their own messages might quote what they worked on.
create or replace function capacity.get_secret(p_name text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_value text;
begin
  begin
    if capacity.has_vault() then
      execute 'select s.decrypted_secret from vault.decrypted_secrets s where s.name = $1 order by s.created_at desc limit 1' into v_value using p_name;
    end if;
    if v_value is null then
      select capacity.open_secret(s.name, s.encrypted) into v_value from capacity.secrets s where s.name = p_name;
    end if;
  exception when others then
    v_value := null;
  end;
  if coalesce(v_value, '') = '' then
    perform capacity.fail('not_configured', 'Something that this needs has not been set up yet.', format('the secret %s is missing or cannot be read', p_name),
      format('An operator stores it with capacity.set_secret(''%s'', …), under the HEADROOM_SECRET_KEY that all processes share, or in Vault.', p_name));
  end if;
  return v_value;
end
$$;
comment on function capacity.get_secret(text) is 'A secret by name; refuses when it is missing or cannot be read.';
