-- Stores a secret, or replaces it: in Vault if that is installed, otherwise encrypted in our table. Pass the value as a parameter of the
-- statement and not in its text, which servers log. Secrets to sign with (names that end in _SECRET) must be too long to be guessed. With
-- p_keep_previous the old value stays valid, as <name>_PREVIOUS, until it is removed: no caller could read it in order to store it again.
create or replace function headroom.set_secret(p_name text, p_value text, p_keep_previous boolean default false) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_name is null or p_name !~ '^[A-Z][A-Z0-9_]{0,62}$' then
    perform headroom.fail('invalid_input', 'A secret is named in capital letters, digits and underscores, such as SLACK_BOT_TOKEN.');
  elsif p_value is null or octet_length(p_value) not between 1 and 16384 then
    perform headroom.fail('invalid_input', 'A secret has 1 to 16384 bytes.');
  elsif p_name ~ '_SECRET(_PREVIOUS)?$' and octet_length(p_value) < 32 then
    perform headroom.fail('invalid_input', 'A secret to sign with has at least 32 bytes.', p_name,
      'Take for example the output of: openssl rand -hex 32');
  end if;
  if p_keep_previous then
    perform headroom.keep_secret(p_name);
  end if;
  perform headroom.keep_box(p_name, p_name, p_value);
end
$$;
comment on function headroom.set_secret(text, text, boolean) is 'Stores or replaces a secret.';
