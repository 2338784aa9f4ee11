-- Tells of dead letters, once for each alert, stream and rail: when the first dies, again when more have died and the alert has been
-- quiet for its time, and when none is left. Relays call this all the time, and one at a time does the work; what is told and that it was
-- told are one transaction, so nothing is told twice. Returns how many rows were enqueued.
create or replace function webhooks.raise_alerts() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_news record;
  v_told integer := 0;
  v_row record;
begin
  if not exists (select from webhooks.alerts) or not pg_try_advisory_xact_lock(hashtextextended('webhooks.raise_alerts', 0)) then
    return 0;
  end if;
  for v_news in
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
      false, null, 'alerts', concat_ws(':', v_news.name, v_news.stream, v_news.rail), concat_ws(':', v_news.name, v_news.stream, v_news.rail, gen_random_uuid()),
      case when v_news.dead > 0 then 'raised' else 'cleared' end, 'webhook',
      jsonb_build_object('alert', v_news.name, 'stream', v_news.stream, 'rail', v_news.rail, 'dead', v_news.dead, 'parked', v_news.parked,
                         'codes', v_news.codes, 'at', v_now),
      p_coalesce_key => 'alert', p_destination => 'endpoint:' || v_news.endpoint_id, p_binds => '[{"path": [], "renderer": "alert"}]');
    if v_news.dead > 0 then
      insert into webhooks.alerts_raised as x (alert, stream, rail, said_at, last_died_at)
      values (v_news.name, v_news.stream, v_news.rail, v_now, v_news.last_died_at)
      on conflict (alert, stream, rail) do update set said_at = excluded.said_at, last_died_at = excluded.last_died_at;
    else
      delete from webhooks.alerts_raised x where x.alert = v_news.name and x.stream = v_news.stream and x.rail = v_news.rail;
    end if;
    v_told := v_told + v_row.created::integer;
  end loop;
  return v_told;
end
$$;
comment on function webhooks.raise_alerts() is 'Enqueues what alerts have to say about dead letters, and counts it.';
