-- Hook of webhooks.tenant_named: a tenant of the engine is a workspace here.
create or replace function directory.check_tenant(p_argument jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := p_argument ->> 'tenant_id';
begin
  if not exists (select from directory.workspaces w where w.id = v_id) then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(v_id, 64)), null,
                          'Create it first, or name another one.');
  end if;
  return null;
end
$$;
comment on function directory.check_tenant(jsonb) is 'Refuses a tenant that is not a workspace. Nullable: result.';
