-- Which secrets exist, where they are stored, and whether this process could read them; never their values. Secrets of endpoints are not
-- listed: their names are not in capital letters.
create or replace function headroom.list_secrets() returns table (name text, kept_in text, readable boolean, updated_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if headroom.has_vault() then
    -- Only names: our own view of Vault reads through its decrypting view, but no secret from it.
    return query execute
      'select s.name, ''vault''::text, true, s.updated_at
         from vault.decrypted_secrets s where s.name ~ ''^[A-Z][A-Z0-9_]{0,62}$'' order by s.name';
  end if;
  return query
  select b.name, 'table'::text, headroom.open_secret(b.name, b.box) is not null, b.updated_at
    from headroom.boxes b where b.box is not null and b.name ~ '^[A-Z][A-Z0-9_]{0,62}$' order by b.name;
end
$$;
comment on function headroom.list_secrets() is 'The names of the stored secrets, and whether they can be read under this key.';
