-- An alert in its receiver's format, made when it is sent: a CloudEvents event, or one of PagerDuty's Events API v2. Each stream and rail
-- has one dedup_key, so that the incident that was opened is the one that is closed. PagerDuty's key is added here, so that no row contains
-- it.
create or replace function webhooks.render_alert(p_payload jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_alert webhooks.alerts;
  v_stream text := p_payload ->> 'stream';
  v_rail text := p_payload ->> 'rail';
  v_dead integer := (p_payload ->> 'dead')::integer;
  v_source text := 'headroom/' || current_database();
  v_key text;
begin
  select * into v_alert from webhooks.alerts a where a.name = p_payload ->> 'alert';
  v_key := left(concat_ws(':', 'headroom', current_database(), v_stream, v_rail), 255);
  if v_alert.template = 'pagerduty' and v_dead = 0 then
    return jsonb_build_object('routing_key', v_alert.routing_key, 'event_action', 'resolve', 'dedup_key', v_key);
  elsif v_alert.template = 'pagerduty' then
    return jsonb_build_object(
      'routing_key', v_alert.routing_key, 'event_action', 'trigger', 'dedup_key', v_key, 'client', 'Headroom',
      'payload', jsonb_build_object(
        'summary', format('%s dead letter%s in stream %s on rail %s', v_dead, case when v_dead = 1 then '' else 's' end, v_stream, v_rail),
        'source', v_source, 'severity', 'error', 'timestamp', p_payload -> 'at', 'component', v_stream, 'group', v_rail,
        'class', 'dead_letters', 'custom_details', p_payload - 'alert'));
  end if;
  return jsonb_build_object(
    'specversion', '1.0', 'id', concat_ws(':', v_key, p_payload ->> 'at'), 'source', '/headroom', 'subject', v_stream || '/' || v_rail,
    'type', case when v_dead > 0 then 'headroom.dead_letters.raised' else 'headroom.dead_letters.cleared' end,
    'time', to_char((p_payload ->> 'at')::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'datacontenttype', 'application/json', 'data', p_payload);
end
$$;
comment on function webhooks.render_alert(jsonb) is 'The renderer alert: what an alert''s endpoint is sent.';
