-- Sends what is due and forgets what is old, as the cron job `process-notifications` does. Relays that run all the time do the same every
-- few seconds.
create or replace function public.notification_dispatcher() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform directory.check_api_key();
  return notify.send_due();
end
$$;
comment on function public.notification_dispatcher() is 'Sends the notifications that are due; returns the number of messages.';
