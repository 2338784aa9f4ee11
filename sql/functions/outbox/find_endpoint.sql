-- An endpoint by name, locked, or a refusal. Whoever may keep the endpoints of one workspace is told nothing of the others.
create or replace function outbox.find_endpoint(p_name text, p_workspace_id text, p_any boolean) returns outbox.endpoints
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint outbox.endpoints;
begin
  select * into v_endpoint from outbox.endpoints e
   where e.name = p_name and (p_any or e.workspace_id = p_workspace_id) for update;
  if not found then
    perform capacity.fail('not_found', format('There is no endpoint "%s".', left(p_name, 64)), null, 'List those there are.');
  end if;
  return v_endpoint;
end
$$;
comment on function outbox.find_endpoint(text, text, boolean) is 'An endpoint that the caller may keep, locked; refuses otherwise.';
