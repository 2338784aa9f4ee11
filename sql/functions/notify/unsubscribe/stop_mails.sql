-- Stops mails of these kinds to the recipient of a notification, and drops those that are still held.
create or replace function notify.stop_mails(p_notification notify.notifications, p_categories text[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into notify.preferences as f (workspace_id, whose, category, channel, choice)
  select p_notification.workspace_id, notify.whose(p_notification), c, 'email', 'off' from unnest(p_categories) c
  on conflict (workspace_id, whose, category, channel)
  do update set choice = 'off', updated_at = clock_timestamp() where f.choice <> 'off';
  update notify.parts p set state = 'dropped', reason = 'preference'
   where p.channel = 'email' and p.notification_id = any (array(
     select h.notification_id
       from notify.parts h join notify.notifications n on n.id = h.notification_id
      where h.state = 'held' and h.channel = 'email' and h.workspace_id = p_notification.workspace_id
        and h.recipient_kind = p_notification.recipient_kind and h.recipient = p_notification.recipient
        and n.category = any (p_categories) and not n.critical
      order by h.notification_id for no key update of h));
end
$$;
comment on function notify.stop_mails(notify.notifications, text[]) is 'Stops mails of some kinds to a recipient.';
