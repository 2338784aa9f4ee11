-- Puts away what an endpoint must keep to itself: in Vault where it is, else in a box of capacity.seal_secret(), which is returned to
-- be stored beside its id. The id is part of the name, so that no box opens in another's place.
create or replace function outbox.seal_endpoint_secret(p_secret_id uuid, p_value text) returns bytea
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := 'headroom endpoint ' || p_secret_id;
  v_failed boolean := false;
begin
  if not capacity.has_vault() then
    return capacity.seal_secret(v_name, p_value);
  end if;
  begin
    execute 'select vault.create_secret($1, $2, $3)' using p_value, v_name, 'An endpoint of Headroom.'::text;
  exception when others then
    -- Its own message might quote what it worked on.
    v_failed := true;
  end;
  if v_failed then
    perform capacity.fail('not_configured', 'Vault did not take the secret.', null, 'Check that headroom_owner may execute vault.create_secret and vault.update_secret.');
  end if;
  return null;
end
$$;
comment on function outbox.seal_endpoint_secret(uuid, text) is 'Keeps a secret of an endpoint; the box to store, or null when Vault has it. Nullable: result.';
