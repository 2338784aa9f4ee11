-- Sends alerts about dead letters, once for each alert, stream and rail: when the first row dies, again when more have died and the alert
-- has been quiet for its time, and when the last dead letter is gone. Relays call this all the time, and one at a time does the work; the
-- message and the record of it are one transaction, so nothing is sent twice. Returns how many rows were enqueued.
create or replace function webhooks.raise_alerts() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_alert record;
  v_sent integer := 0;
  v_row record;
begin
  if not exists (select from webhooks.alerts) or not headroom.try_turn('webhooks.raise_alerts') then
    return 0;
  end if;
  for v_alert in
    select a.name, a.endpoint_id, n.stream, n.rail, n.dead, n.parked, n.codes, n.last_died_at
      from webhooks.alerts a
     cross join outbox.dead_by_rail() n
      left join webhooks.alerts_raised x on x.alert = a.name and x.stream = n.stream and x.rail = n.rail
     where (a.streams is null or n.stream = any (a.streams))
       and (x.alert is null or n.last_died_at > x.last_died_at and x.said_at <= v_now - a.repeat_minutes * interval '1 minute')
    union all
    select a.name, a.endpoint_id, x.stream, x.rail, 0, 0, '{}', x.last_died_at
      from webhooks.alerts_raised x
      join webhooks.alerts a on a.name = x.alert
     where not exists (select from outbox.dead_by_rail() n where n.stream = x.stream and n.rail = x.rail)
     order by 1, 3, 4
  loop
    v_row := outbox.add_row(
      false, null, 'alerts', concat_ws(':', v_alert.name, v_alert.stream, v_alert.rail),
      concat_ws(':', v_alert.name, v_alert.stream, v_alert.rail, gen_random_uuid()),
      case when v_alert.dead > 0 then 'raised' else 'cleared' end, 'webhook',
      jsonb_build_object('alert', v_alert.name, 'stream', v_alert.stream, 'rail', v_alert.rail, 'dead', v_alert.dead, 'parked',
                         v_alert.parked,
                         'codes', v_alert.codes, 'at', v_now),
      p_coalesce_key => 'alert', p_destination => 'endpoint:' || v_alert.endpoint_id, p_binds => '[{"path": [], "renderer": "alert"}]');
    if v_alert.dead > 0 then
      insert into webhooks.alerts_raised as x (alert, stream, rail, said_at, last_died_at)
      values (v_alert.name, v_alert.stream, v_alert.rail, v_now, v_alert.last_died_at)
      on conflict (alert, stream, rail) do update set said_at = excluded.said_at, last_died_at = excluded.last_died_at;
    else
      delete from webhooks.alerts_raised x where x.alert = v_alert.name and x.stream = v_alert.stream and x.rail = v_alert.rail;
    end if;
    v_sent := v_sent + v_row.created::integer;
  end loop;
  return v_sent;
end
$$;
comment on function webhooks.raise_alerts() is 'Enqueues alerts about dead letters, and returns how many.';
