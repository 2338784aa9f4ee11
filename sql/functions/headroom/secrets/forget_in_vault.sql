-- Overwrites secrets in Vault, value and name, because Vault has no function that deletes.
create or replace function headroom.forget_in_vault(p_names text[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_names) > 0 and headroom.has_vault() then
    execute 'select vault.update_secret(s.id, gen_random_uuid()::text, ''removed '' || gen_random_uuid())'
            ' from vault.decrypted_secrets s where s.name = any ($1)'
      using p_names;
  end if;
end
$$;
comment on function headroom.forget_in_vault(text[]) is 'Overwrites secrets in Vault.';
