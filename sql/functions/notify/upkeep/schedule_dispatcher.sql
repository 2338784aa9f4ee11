-- Makes pg_cron send what is due every minute, if it exists and we may use it; relays that run all the time do so every few seconds. If
-- both do, they share the work. Safe to call again.
create or replace function notify.schedule_dispatcher() returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  return headroom.schedule_job('process-notifications', 'select notify.send_due()', 'process-notifications-history', 27);
end
$$;
comment on function notify.schedule_dispatcher()
  is 'Schedules the sending of notifications in pg_cron: says pg_cron, or worker where that cannot be.';
