-- Which secrets there are, where they are kept, and whether this process could read them: never what they say.
create or replace function capacity.list_secrets() returns table (name text, kept_in text, readable boolean, updated_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if capacity.has_vault() then
    -- A name without its value: our own view of Vault goes through its decrypting one, and reads no secret from it.
    return query execute
      'select s.name, ''vault''::text, true, s.updated_at from vault.decrypted_secrets s where s.name ~ ''^[A-Z][A-Z0-9_]{0,62}$'' order by s.name';
  end if;
  return query
  select s.name, 'table'::text, capacity.open_secret(s.name, s.encrypted) is not null, s.updated_at from capacity.secrets s order by s.name;
end
$$;
comment on function capacity.list_secrets() is 'The names of the stored secrets, and whether they can be read under this key.';
