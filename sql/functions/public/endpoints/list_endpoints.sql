-- The endpoints that the caller manages: those of their workspace for an admin; all of them, or those of the workspace that is named, for
-- a service key. Secrets are not shown.
create or replace function public.list_endpoints(p_workspace_id text default null)
returns table (
  id uuid, name text, workspace_id text, url text, description text, topics text[], header_names text[], enabled boolean,
  disabled_at timestamptz,
  disabled_code text, disabled_reason text, secrets integer, readable boolean, old_secret_until timestamptz, dead bigint,
  circuit text, created_at timestamptz, updated_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text := directory.endpoint_workspace(p_workspace_id);
begin
  return query select * from webhooks.list_endpoints(v_workspace_id);
end
$$;
comment on function public.list_endpoints(text)
  is 'The webhook endpoints that the caller manages.
Nullable: workspace_id, description, disabled_at, disabled_code, disabled_reason, old_secret_until.';
