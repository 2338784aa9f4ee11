-- Whether Supabase Vault is installed and we may use it. Its view must belong to a superuser, as the extension's does: reading a view runs
-- its query with our rights, so a view of that name that another role made is not touched. Looked up in the catalogue: to_regclass() fails
-- if we may not use its schema.
create or replace function headroom.has_vault() returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_roles r on r.oid = c.relowner
                  where n.nspname = 'vault' and c.relname = 'decrypted_secrets' and r.rolsuper
                    and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select'))
$$;
comment on function headroom.has_vault() is 'Whether secrets are kept in Supabase Vault.';
