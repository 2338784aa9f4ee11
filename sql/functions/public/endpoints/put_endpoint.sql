-- Makes an endpoint, or changes the given fields; null leaves a field unchanged. An admin's endpoint belongs to their own workspace,
-- and its name is unique only there; one that a machine makes without naming a workspace belongs to the installation. Only this answer
-- shows the secret of a new endpoint.
create or replace function public.put_endpoint(
  p_name text, p_url text default null, p_topics text[] default null, p_description text default null, p_headers jsonb default null,
  p_workspace_id text default null,
  out name text, out created boolean, out secret text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_workspace_id text := directory.endpoint_workspace(p_workspace_id);
  v_changes jsonb := jsonb_strip_nulls(jsonb_build_object('url', p_url, 'description', p_description)) ||
                     case when p_topics is null then '{}' else jsonb_build_object('topics', p_topics) end ||
                     case when p_headers is null then '{}' else jsonb_build_object('headers', p_headers) end;
begin
  select p.name, p.created, p.secret into name, created, secret
    from webhooks.put_endpoint(p_name, v_changes, p_tenant_id => v_workspace_id) p;
end
$$;
comment on function public.put_endpoint(text, text, text[], text, jsonb, text)
  is 'Makes or changes a webhook endpoint; only this answer shows the secret of a new one. Nullable: secret.';
