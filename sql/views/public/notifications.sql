-- The inbox of the member who is signed in: only their own notifications, whatever roles they have.
create or replace view public.notifications with (security_invoker = true) as
select n.id, n.title, n.body, n.action_url, n.category, n.about, n.priority::integer as priority, n.created_at, n.read_at
  from notify.notifications n
  join notify.shown s on s.notification_id = n.id
 where n.recipient_kind = 'member' and n.channels @> array['in-app'] and n.erased_at is null
   and n.workspace_id = (select directory.reader_workspace()) and n.recipient = (select directory.reader_id());
comment on view public.notifications is 'The inbox of the member who is signed in.';
