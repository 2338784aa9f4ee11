-- Removes an endpoint and its secrets permanently: rows that still wait for it die as unknown_endpoint when their turn comes, and one that
-- is made later under the same name is a different one. Refused while alerts go to it, which would no longer be sent.
create or replace function webhooks.remove_endpoint(p_name text, p_tenant_id text default null) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint webhooks.endpoints := webhooks.find_endpoint(p_name, p_tenant_id);
begin
  perform webhooks.check_no_alerts(v_endpoint);
  perform webhooks.drop_endpoint_secrets(array_agg(s.secret_id)) from webhooks.endpoint_secrets s where s.endpoint_id = v_endpoint.id;
  delete from webhooks.endpoints e where e.id = v_endpoint.id;
end
$$;
comment on function webhooks.remove_endpoint(text, text) is 'Removes an endpoint and its secrets, unless alerts go to it.';
