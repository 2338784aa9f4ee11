-- Whether one of our own messages carries something with this link: its token is made only for such a message, because applications may
-- write to the same stream.
create or replace function notify.carries_link(p_outbox_id uuid, p_link_id uuid) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from notify.deliveries d
                   join notify.parts p on p.delivery_id = d.id
                   join notify.notifications n on n.id = p.notification_id
                  where d.outbox_id = p_outbox_id and n.link ->> 'id' = p_link_id::text);
$$;
comment on function notify.carries_link(uuid, uuid) is 'Whether one of our own messages carries something with this link.';
