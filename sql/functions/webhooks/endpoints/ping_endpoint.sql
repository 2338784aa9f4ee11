-- Sends an endpoint a signed event of the type headroom.ping, by the same way as all others. It expires after a minute, because later it
-- would be of no use.
create or replace function webhooks.ping_endpoint(p_name text, p_tenant_id text default null) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint webhooks.endpoints := webhooks.find_endpoint(p_name, p_tenant_id);
  v_id text := gen_random_uuid()::text;
begin
  return (outbox.add_row(
    false, v_endpoint.tenant_id, 'transfers', v_endpoint.id || ':ping', 'ping ' || v_id, v_endpoint.id::text, 'webhook',
    jsonb_build_object('specversion', '1.0', 'id', v_id, 'source', '/headroom', 'type', 'headroom.ping', 'subject', v_endpoint.name,
                       'time', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'datacontenttype', 'application/json',
                       'data', jsonb_build_object('endpoint', v_endpoint.name)),
    p_expires_at => now() + interval '1 minute', p_destination => 'endpoint:' || v_endpoint.id)).outbox_id;
end
$$;
comment on function webhooks.ping_endpoint(text, text) is 'Enqueues a test event for an endpoint and returns its row.';
