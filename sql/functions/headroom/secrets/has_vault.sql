-- Whether Supabase Vault is there and open to us. Its view must belong to a superuser, as the extension's does: reading a view runs what is
-- in it with our rights, so a view of that name that somebody else made is not touched.
create or replace function headroom.has_vault() returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from pg_class c join pg_roles r on r.oid = c.relowner
                  where c.oid = to_regclass('vault.decrypted_secrets') and r.rolsuper and has_table_privilege(c.oid, 'select'))
$$;
comment on function headroom.has_vault() is 'Whether secrets are kept in Supabase Vault.';
