-- run as: migrator
-- Supabase Vault, if it is installed: the role that migrates holds its rights with the option to pass them on. The view's decryption runs
-- with the rights of its reader, so that function is needed too. Rights that cannot be passed on are skipped; then secrets are kept in our
-- own encrypted table.
do $$
declare
  v_grant text;
begin
  -- Not by to_regclass(), which fails if this role may not use the schema.
  if not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                  where n.nspname = 'vault' and c.relname = 'decrypted_secrets') then
    return;
  end if;
  for v_grant in
    select 'grant usage on schema vault to headroom_owner'
    union all
    select 'grant select on vault.decrypted_secrets to headroom_owner'
    union all
    select format('grant execute on function %s to headroom_owner', p.oid::regprocedure)
      from pg_proc p
     where p.pronamespace = 'vault'::regnamespace
       and p.proname in ('create_secret', 'update_secret', '_crypto_aead_det_decrypt', '_crypto_aead_det_encrypt',
                         '_crypto_aead_det_noncegen')
  loop
    begin
      execute v_grant;
    exception when insufficient_privilege then
      null;
    end;
  end loop;
end
$$;
