-- Removes an endpoint that the caller keeps.
create or replace function public.remove_endpoint(p_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_keeper record := capacity.endpoint_keeper(null);
begin
  perform outbox.find_endpoint(p_name, v_keeper.workspace_id, v_keeper.everything);
  perform outbox.remove_endpoint(p_name);
end
$$;
comment on function public.remove_endpoint(text) is 'Removes a webhook endpoint.';
