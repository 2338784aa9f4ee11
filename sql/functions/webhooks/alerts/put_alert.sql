-- Makes an alert, or changes the given fields: endpoint, template, routing_key, streams, repeat_minutes.
create or replace function webhooks.put_alert(p_name text, p_changes jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old webhooks.alerts;
  v_new webhooks.alerts;
  v_endpoint text := p_changes ->> 'endpoint';
begin
  perform headroom.check_changes(p_changes, '{endpoint,template,routing_key,streams,repeat_minutes}');
  select * into v_old from webhooks.alerts a where a.name = p_name for no key update;
  if not found then
    v_old := jsonb_populate_record(null::webhooks.alerts, jsonb_build_object('name', p_name, 'template', 'event', 'repeat_minutes', 60));
  end if;
  begin
    v_new := jsonb_populate_record(v_old, p_changes - 'endpoint');
  exception when data_exception then
    perform headroom.fail('invalid_input', 'A field of the alert has a value of the wrong type.', sqlerrm, 'Nothing was changed.');
  end;
  if p_changes ? 'endpoint' then
    select e.id into v_new.endpoint_id from webhooks.endpoints e where e.name = v_endpoint and e.tenant_id is null;
  end if;
  if v_new.endpoint_id is null then
    perform headroom.fail('not_found', 'An alert needs an endpoint of the installation.', left(v_endpoint, 64),
      'Make the endpoint first, without a workspace. Nothing was changed.');
  elsif exists (select from unnest(v_new.streams) n where not exists (select from outbox.stream_settings s where s.name = n)) then
    perform headroom.fail('not_found', 'One of the streams does not exist.', null, 'See headroom outbox status. Nothing was changed.');
  elsif 'alerts' = any (v_new.streams) then
    perform headroom.fail('invalid_input', 'Alerts do not watch their own stream.', null, 'Watch it by the metrics. Nothing was changed.');
  end if;
  insert into webhooks.alerts as a (name, endpoint_id, template, routing_key, streams, repeat_minutes)
  values (p_name, v_new.endpoint_id, v_new.template, v_new.routing_key, v_new.streams, v_new.repeat_minutes)
  on conflict (name) do update
    set endpoint_id = excluded.endpoint_id, template = excluded.template, routing_key = excluded.routing_key, streams = excluded.streams,
        repeat_minutes = excluded.repeat_minutes;
exception when check_violation or not_null_violation then
  perform headroom.fail('invalid_input', 'The alert is not acceptable.',
    'a name of small letters, digits and dashes; template event, or pagerduty with its key; repeat_minutes from 1 to 10080',
    'Nothing was changed.');
end
$$;
comment on function webhooks.put_alert(text, jsonb) is 'Makes an alert on dead letters, or changes one.';
