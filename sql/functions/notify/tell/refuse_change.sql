-- What was told cannot be changed, and its outcome is derived.
create or replace function notify.refuse_change() returns trigger
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.fail('not_allowed', 'Notifications are neither changed nor deleted here.', null,
                        'Insert another one. The outcome of a notification is derived from its deliveries.');
  return null;
end
$$;
comment on function notify.refuse_change() is 'Refuses to change a notification.';
