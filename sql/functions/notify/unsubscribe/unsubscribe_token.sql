-- The token of the link that stops mails like this one: the id of a notification in it and its signature, 48 bytes, written in 64
-- characters that need no escaping. Made for the mail that is being sent at the moment; it is in no table, payload, log or archive. Only
-- for one of our mails that carries the notification: an application that knows an id must not be able to mail itself the link.
create or replace function notify.unsubscribe_token(p_notification_id uuid, p_outbox_id uuid) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from notify.deliveries d
                   join notify.parts p on p.delivery_id = d.id and p.channel = 'email'
                   join notify.notifications n on n.id = p.notification_id and not n.critical
                  where d.outbox_id = p_outbox_id and n.id = p_notification_id) then
    perform headroom.fail('not_found', 'There is no such mail.');
  end if;
  return translate(encode(
    uuid_send(p_notification_id) || notify.unsubscribe_signature('CONFIRMATION_TOKEN_SECRET', p_notification_id), 'base64'), '+/', '-_');
end
$$;
comment on function notify.unsubscribe_token(uuid, uuid) is 'The token of a link that stops mails, computed at the moment of sending.';
