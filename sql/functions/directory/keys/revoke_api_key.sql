-- Revokes a key, immediately and permanently. A key that was never registered is recorded too: anything with its id is refused from now on.
create or replace function directory.revoke_api_key(p_id text) returns directory.api_keys
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_key directory.api_keys;
begin
  if p_id is null or p_id !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' then
    perform headroom.fail('invalid_input', 'The id of a key is 1 to 64 letters, digits, dots, dashes or underscores.', left(p_id, 80));
  end if;
  insert into directory.api_keys as k (id, role, revoked_at) values (p_id, 'service_role', clock_timestamp())
  on conflict (id) do update set revoked_at = coalesce(k.revoked_at, excluded.revoked_at)
  returning k.* into v_key;
  return v_key;
end
$$;
comment on function directory.revoke_api_key(text) is 'Revokes a key.';
