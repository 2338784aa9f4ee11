-- Brings a secret of an endpoint back, or null: under another key, after a change, or when Vault has it no more. Which of these it
-- was is not told.
create or replace function outbox.open_endpoint_secret(p_secret_id uuid, p_box bytea) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := 'headroom endpoint ' || p_secret_id;
  v_value text;
begin
  if p_box is not null then
    return capacity.open_secret(v_name, p_box);
  elsif capacity.has_vault() then
    execute 'select s.decrypted_secret from vault.decrypted_secrets s where s.name = $1 order by s.created_at desc limit 1' into v_value using v_name;
  end if;
  return v_value;
exception when others then
  return null;
end
$$;
comment on function outbox.open_endpoint_secret(uuid, bytea) is 'A secret of an endpoint, or null when it cannot be read. Nullable: result.';
