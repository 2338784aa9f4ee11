-- Forgets what is stored under these names. Vault has no function to delete with, so there value and name are overwritten.
create or replace function headroom.drop_boxes(p_names text[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  delete from headroom.boxes b where b.name = any (p_names);
  if headroom.has_vault() then
    execute 'select vault.update_secret(s.id, gen_random_uuid()::text, ''removed '' || gen_random_uuid())
               from vault.decrypted_secrets s where s.name = any ($1)'
      using p_names;
  end if;
end
$$;
comment on function headroom.drop_boxes(text[]) is 'Forgets secrets by name.';
