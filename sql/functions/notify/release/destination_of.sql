-- What limits and circuits of a message go by. What a workspace's recipients make of its mail says nothing about the mail of others.
create or replace function notify.destination_of(p_notification notify.notifications, p_channel text, p_address text) returns text
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case p_channel when 'email' then 'email:' || p_notification.workspace_id when 'webhook' then 'endpoint:' || p_address
              else p_channel || ':' || p_address end;
$$;
comment on function notify.destination_of(notify.notifications, text, text) is 'What limits and circuits of a message go by.';
