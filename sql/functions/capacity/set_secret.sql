-- Stores a secret, or replaces it: in Vault where it is, else encrypted in our table. Pass the value as a parameter of the
-- statement and not in its text, which servers log. What is signed with (names that end in _SECRET) must be too long to be guessed.
-- With p_keep_previous the one before goes on counting, as <name>_PREVIOUS, until it is removed: nobody could read it out to store it
-- again.
create or replace function capacity.set_secret(p_name text, p_value text, p_keep_previous boolean default false) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid;
  v_failed boolean := false;
begin
  if p_name is null or p_name !~ '^[A-Z][A-Z0-9_]{0,62}$' then
    perform capacity.fail('invalid_input', 'A secret is named in capital letters, digits and underscores, such as SLACK_BOT_TOKEN.');
  elsif p_value is null or octet_length(p_value) not between 1 and 16384 then
    perform capacity.fail('invalid_input', 'A secret has 1 to 16384 bytes.');
  elsif p_name ~ '_SECRET(_PREVIOUS)?$' and octet_length(p_value) < 32 then
    perform capacity.fail('invalid_input', 'A secret to sign with has at least 32 bytes.', p_name,
      'Take for example the output of: openssl rand -hex 32');
  end if;
  if p_keep_previous then
    perform capacity.keep_secret(p_name);
  end if;
  if capacity.has_vault() then
    begin
      execute 'select s.id from vault.decrypted_secrets s where s.name = $1 order by s.created_at desc limit 1' into v_id using p_name;
      if v_id is null then
        execute 'select vault.create_secret($1, $2, $3)' using p_value, p_name, 'Set by Headroom.'::text;
      else
        execute 'select vault.update_secret($1, $2)' using v_id, p_value;
      end if;
    exception when others then
      v_failed := true;
    end;
    if v_failed then
      perform capacity.fail('not_configured', 'Vault did not take the secret.', p_name, 'Check that headroom_owner may execute vault.create_secret and vault.update_secret.');
    end if;
    return;
  end if;
  insert into capacity.secrets as s (name, encrypted) values (p_name, capacity.seal_secret(p_name, p_value))
  on conflict (name) do update set encrypted = excluded.encrypted, updated_at = now();
end
$$;
comment on function capacity.set_secret(text, text, boolean) is 'Stores or replaces a secret.';
