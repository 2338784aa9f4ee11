-- Forgets secrets of endpoints. Vault has no function to delete with, so there the value is overwritten.
create or replace function outbox.drop_endpoint_secrets(p_secret_ids uuid[]) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_secret record;
  v_rows integer := 0;
begin
  for v_secret in delete from outbox.endpoint_secrets s where s.secret_id = any (p_secret_ids) returning s.secret_id, s.box is null as in_vault loop
    v_rows := v_rows + 1;
    if v_secret.in_vault and capacity.has_vault() then
      begin
        execute 'select vault.update_secret(s.id, $2) from vault.decrypted_secrets s where s.name = $1'
          using 'headroom endpoint ' || v_secret.secret_id, 'removed'::text;
      exception when others then
        null;
      end;
    end if;
  end loop;
  return v_rows;
end
$$;
comment on function outbox.drop_endpoint_secrets(uuid[]) is 'Forgets secrets of endpoints and returns how many.';
