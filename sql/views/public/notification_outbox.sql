-- Notifications as applications see them: one row each, with a status over all channels. An insert calls notify(); nothing else can
-- be changed (sql/triggers/public.sql).
create or replace view public.notification_outbox with (security_invoker = true) as
select n.id, n.workspace_id, n.recipient as user_id, n.idempotency_key, n.title, n.body, n.action_url, n.channels,
       n.priority::integer as priority, s.status, s.attempt_count, s.last_attempt_at, s.delivered_at, s.error_message, n.created_at,
       n.expires_at
  from notify.notifications n
  join notify.statuses s on s.notification_id = n.id
 where n.recipient_kind = 'member' and (select directory.reader_key_valid());
comment on view public.notification_outbox is 'Notifications and their status. An insert notifies somebody.';
