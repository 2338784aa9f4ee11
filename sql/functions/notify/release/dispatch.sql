-- Called by the pg_cron jobs that the last release made. It stays for one release.
create or replace function notify.dispatch() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return notify.send_due();
end
$$;
comment on function notify.dispatch() is 'Sends the notifications that are due, by the name that jobs of the last release know.';
