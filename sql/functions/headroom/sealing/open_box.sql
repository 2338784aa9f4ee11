-- The secret that is stored under a name, or null: missing, sealed under another key, changed, or no longer in Vault. It does not report
-- which, and hides errors of Vault and the cipher, because their messages might quote the secret.
create or replace function headroom.open_box(p_name text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_value text;
begin
  if headroom.has_vault() then
    execute 'select s.decrypted_secret from vault.decrypted_secrets s where s.name = $1 order by s.created_at desc limit 1' into v_value
      using p_name;
  end if;
  if v_value is null then
    select headroom.open_secret(b.name, b.box) into v_value from headroom.boxes b where b.name = p_name and b.box is not null;
  end if;
  return v_value;
exception when others then
  return null;
end
$$;
comment on function headroom.open_box(text) is 'The secret that is stored under a name, or null. Nullable: result.';
