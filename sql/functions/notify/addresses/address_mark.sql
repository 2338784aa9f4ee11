-- An address as it is stored where it must not be readable: a keyed hash of its canonical form, under a key that the workspace uses for
-- nothing else. An older address without such a form is hashed as it is.
create or replace function notify.address_mark(p_workspace_id text, p_address text) returns bytea
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea;
begin
  if p_address is null then
    return null;
  end if;
  select k.key into v_key from notify.address_keys k where k.workspace_id = p_workspace_id;
  if v_key is null then
    insert into notify.address_keys (workspace_id, key)
    values (p_workspace_id, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
    on conflict do nothing;
    select k.key into strict v_key from notify.address_keys k where k.workspace_id = p_workspace_id;
  end if;
  return headroom.hmac_sha256(v_key, convert_to(coalesce(headroom.canonical_address(p_address), p_address), 'UTF8'));
end
$$;
comment on function notify.address_mark(text, text) is 'The keyed hash of an address. Nullable: p_address, result.';
