-- An endpoint by name, locked, or a refusal: the one of a workspace, or with none given the installation's own. Names belong to whom the
-- endpoint belongs, so nobody is told anything of another's.
create or replace function outbox.find_endpoint(p_name text, p_workspace_id text) returns outbox.endpoints
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint outbox.endpoints;
begin
  select * into v_endpoint from outbox.endpoints e
   where e.name = p_name and e.workspace_id is not distinct from p_workspace_id for update;
  if not found then
    perform capacity.fail('not_found', format('There is no endpoint "%s".', left(p_name, 64)), null, 'List those there are.');
  end if;
  return v_endpoint;
end
$$;
comment on function outbox.find_endpoint(text, text) is 'An endpoint of a workspace or of the installation, locked; refuses otherwise. Nullable: p_workspace_id.';
