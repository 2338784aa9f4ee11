-- Marks one of the caller's notifications as read; returns whether it was unread. Somebody else's is not found.
create or replace function public.mark_notification_read(p_id uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_owner record := notify.inbox_owner();
  v_read_at timestamptz;
begin
  select n.read_at into v_read_at from notify.notifications n
   where n.id = p_id and n.workspace_id = v_owner.workspace_id and n.recipient_kind = 'member' and n.recipient = v_owner.member_id
     and n.erased_at is null;
  if not found then
    perform headroom.fail('not_found', 'There is no such notification in your inbox.', null, 'Nothing was changed.');
  end if;
  update notify.notifications n set read_at = clock_timestamp() where n.id = p_id and n.read_at is null;
  return found;
end
$$;
comment on function public.mark_notification_read(uuid) is 'Marks a notification as read; whether it was unread.';
