-- Disables an endpoint that the caller keeps.
create or replace function public.disable_endpoint(p_name text, p_reason text default null) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_keeper record := capacity.endpoint_keeper(null);
begin
  perform outbox.find_endpoint(p_name, v_keeper.workspace_id, v_keeper.everything);
  perform outbox.disable_endpoint(p_name, p_reason);
end
$$;
comment on function public.disable_endpoint(text, text) is 'Disables a webhook endpoint.';
