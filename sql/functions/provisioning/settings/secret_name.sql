-- The name under which a workspace's callback secret is stored.
create or replace function provisioning.secret_name(p_workspace_id text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return 'provisioning:' || p_workspace_id;
end
$$;
comment on function provisioning.secret_name(text) is 'The name of a workspace''s callback secret.';
