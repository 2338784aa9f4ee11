-- Stores a secret under a name, or replaces it: in Vault if that is installed, otherwise sealed in our table. The label names it to people
-- who change the key. Secrets of all layers are stored here, so that one walk finds them all when the key changes.
create or replace function headroom.keep_box(p_name text, p_label text, p_value text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_in_vault boolean := headroom.has_vault();
  v_failed boolean := false;
  v_id uuid;
begin
  if v_in_vault then
    begin
      execute 'select s.id from vault.decrypted_secrets s where s.name = $1 order by s.created_at desc limit 1' into v_id using p_name;
      if v_id is null then
        execute 'select vault.create_secret($1, $2, $3)' using p_value, p_name, 'Set by Headroom.'::text;
      else
        execute 'select vault.update_secret($1, $2)' using v_id, p_value;
      end if;
    exception when others then
      -- Vault's own message might quote the secret.
      v_failed := true;
    end;
    if v_failed then
      perform headroom.fail('not_configured', 'Vault did not take the secret.', p_label,
        'Check that headroom_owner may execute vault.create_secret and vault.update_secret.');
    end if;
  end if;
  insert into headroom.boxes as b (name, label, box)
  values (p_name, p_label, case when not v_in_vault then headroom.seal_secret(p_name, p_value) end)
  on conflict (name) do update set label = excluded.label, box = excluded.box, updated_at = now();
end
$$;
comment on function headroom.keep_box(text, text, text) is 'Stores a secret under a name, in Vault or sealed.';
