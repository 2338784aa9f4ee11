-- Makes an endpoint, or changes what is given of it; null leaves a field as it is. An admin's endpoint belongs to the own workspace; one
-- that a machine makes without naming a workspace belongs to the installation. The secret of a new one is in this answer and in no other.
create or replace function public.put_endpoint(
  p_name text, p_url text default null, p_topics text[] default null, p_description text default null, p_headers jsonb default null,
  p_workspace_id text default null,
  out name text, out created boolean, out secret text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_keeper record := capacity.endpoint_keeper(p_workspace_id);
  v_there outbox.endpoints;
  v_changes jsonb := jsonb_strip_nulls(jsonb_build_object('url', p_url, 'description', p_description)) ||
                     case when p_topics is null then '{}' else jsonb_build_object('topics', p_topics) end ||
                     case when p_headers is null then '{}' else jsonb_build_object('headers', p_headers) end;
begin
  select * into v_there from outbox.endpoints e where e.name = p_name;
  -- For a member always: whatever happens to the name meanwhile, another workspace's endpoint is not changed.
  if not found or not v_keeper.everything then
    v_changes := v_changes || jsonb_build_object('workspace_id', v_keeper.workspace_id);
  end if;
  if v_there.name is not null and not v_keeper.everything and v_there.workspace_id is distinct from v_keeper.workspace_id then
    -- Names are the installation's; that one is taken is all that is said.
    perform capacity.fail('conflict', 'This name is taken.', null, 'Choose another. Nothing was changed.');
  end if;
  select p.name, p.created, p.secret into name, created, secret from outbox.put_endpoint(p_name, v_changes) p;
end
$$;
comment on function public.put_endpoint(text, text, text[], text, jsonb, text)
  is 'Makes or changes a webhook endpoint; the secret of a new one is answered this once. Nullable: secret.';
