-- A new secret for an endpoint, returned only by this call. The old ones continue to sign together with it for the window, a day by
-- default; a window of zero ends them now, for a secret that leaked.
create or replace function webhooks.rotate_endpoint_secret(
  p_name text, p_secret text default null, p_window interval default '24 hours', p_tenant_id text default null
) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint webhooks.endpoints := webhooks.find_endpoint(p_name, p_tenant_id);
  v_secret text;
begin
  if p_window is null or p_window < interval '0' or p_window > interval '30 days' then
    perform headroom.fail('invalid_input', 'The window must be zero to 30 days.', null, 'Nothing was changed.');
  end if;
  v_secret := webhooks.add_endpoint_secret(v_endpoint.id, p_secret, p_window);
  update webhooks.endpoints e set version = e.version + 1, updated_at = now() where e.id = v_endpoint.id;
  return v_secret;
end
$$;
comment on function webhooks.rotate_endpoint_secret(text, text, interval, text)
  is 'Adds a secret to an endpoint and lets the old ones run out; returns it, only this time.';
