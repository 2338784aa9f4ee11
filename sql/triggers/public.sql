-- An insert that notifies people.
create or replace trigger insert_notification instead of insert on public.notification_outbox
  for each row execute function notify.insert_notification();
create or replace trigger refuse_change instead of update or delete on public.notification_outbox
  for each row execute function notify.refuse_change();
