-- The workspace's key for the hashes of its customers, made on first use. Concurrent callers get the same key: the insert decides.
-- A random uuid has 122 random bits, so three of them exceed the 256 bits that are needed.
create or replace function capacity.marking_key(p_workspace_id text) returns bytea
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea;
begin
  select k.key into v_key from capacity.customer_keys k where k.workspace_id = p_workspace_id;
  if not found then
    insert into capacity.customer_keys (workspace_id, key)
    values (p_workspace_id,
            sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
    on conflict do nothing;
    select k.key into strict v_key from capacity.customer_keys k where k.workspace_id = p_workspace_id;
  end if;
  return v_key;
end
$$;
comment on function capacity.marking_key(text) is 'The key under which a workspace''s customers are hashed.';
