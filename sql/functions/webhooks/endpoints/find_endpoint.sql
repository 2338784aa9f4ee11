-- An endpoint by name, locked, or a refusal: one of a workspace, or without a workspace the installation's own. Names belong to the owner
-- of the endpoint, so nobody can find out about another's.
create or replace function webhooks.find_endpoint(p_name text, p_tenant_id text) returns webhooks.endpoints
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint webhooks.endpoints;
begin
  select * into v_endpoint from webhooks.endpoints e
   where e.name = p_name and e.tenant_id is not distinct from p_tenant_id for update;
  if not found then
    perform headroom.fail('not_found', format('There is no endpoint "%s".', left(p_name, 64)), null,
      'Check the name in the list of endpoints.');
  end if;
  return v_endpoint;
end
$$;
comment on function webhooks.find_endpoint(text, text)
  is 'An endpoint of a workspace or of the installation, locked; refuses otherwise.';
