-- Disables an endpoint. Nothing more is enqueued for it, and rows that wait for it die as endpoint_disabled when their turn comes, without
-- a call: visible among the dead letters, and, on a stream that blocks, holding their lane until an operator decides. Refused while alerts
-- go to it.
create or replace function webhooks.disable_endpoint(p_name text, p_reason text default null, p_tenant_id text default null) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint webhooks.endpoints := webhooks.find_endpoint(p_name, p_tenant_id);
begin
  if length(p_reason) > 500 then
    perform headroom.fail('invalid_input', 'A reason has at most 500 characters.', null, 'Nothing was changed.');
  end if;
  perform webhooks.check_no_alerts(v_endpoint);
  update webhooks.endpoints e
     set enabled = false, disabled_at = now(), disabled_code = 'operator', disabled_reason = nullif(p_reason, ''), version = e.version + 1,
         updated_at = now()
   where e.id = v_endpoint.id and e.enabled;
end
$$;
comment on function webhooks.disable_endpoint(text, text, text) is 'Disables an endpoint.';
