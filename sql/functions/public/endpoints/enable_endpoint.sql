-- Enables an endpoint: an admin one of their own workspace; a machine one of the workspace that it names, or of the installation.
create or replace function public.enable_endpoint(p_name text, p_workspace_id text default null) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text := directory.endpoint_workspace(p_workspace_id);
begin
  perform webhooks.enable_endpoint(p_name, v_workspace_id);
end
$$;
comment on function public.enable_endpoint(text, text) is 'Enables a webhook endpoint.';
