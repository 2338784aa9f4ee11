-- What was told stays told, and what became of it is derived.
create or replace function notify.refuse_change() returns trigger
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.fail('not_allowed', 'Notifications are neither changed nor deleted here.', null,
                        'Insert another one. What became of one is derived from its deliveries.');
  return null;
end
$$;
comment on function notify.refuse_change() is 'Refuses to change a notification.';
