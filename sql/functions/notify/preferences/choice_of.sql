-- What the recipient of a notification chose for its category and a channel: on, off or digest.
create or replace function notify.choice_of(p_notification notify.notifications, p_channel text) returns text
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select p.choice from notify.preferences p
                    where p.workspace_id = p_notification.workspace_id and p.whose = notify.whose(p_notification)
                      and p.category = p_notification.category and p.channel = p_channel), 'on');
$$;
comment on function notify.choice_of(notify.notifications, text) is 'What a recipient chose for a channel.';
