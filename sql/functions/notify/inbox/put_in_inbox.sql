-- Puts into a member's inbox a notification of which a message could show only the beginning, even if they switched its kind off there:
-- otherwise nobody could read the rest.
create or replace function notify.put_in_inbox(p_told notify.notifications) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update notify.notifications n set channels = n.channels || 'in-app'::text
   where n.id = p_told.id and not n.channels @> '{in-app}';
  insert into notify.parts (notification_id, channel, state, workspace_id, recipient_kind, recipient, priority, due_at, expires_at)
  values (p_told.id, 'in-app', 'shown', p_told.workspace_id, p_told.recipient_kind, p_told.recipient, p_told.priority, clock_timestamp(),
          p_told.expires_at)
  on conflict (notification_id, channel, endpoint_id) do update set state = 'shown', reason = null;
end
$$;
comment on function notify.put_in_inbox(notify.notifications) is 'Puts a notification into the inbox, whatever was chosen.';
