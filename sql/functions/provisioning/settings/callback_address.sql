-- Where runs of a workspace report to; null if no workflow is connected, or if runs could not reach us.
create or replace function provisioning.callback_address(p_workspace_id text) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(s.callback_url, rtrim(w.public_url, '/') || '/webhooks/provisioning')
    from provisioning.settings s join directory.workspaces w on w.id = s.workspace_id
   where s.workspace_id = p_workspace_id;
$$;
comment on function provisioning.callback_address(text) is 'The address for callbacks of a workspace. Nullable: result.';
