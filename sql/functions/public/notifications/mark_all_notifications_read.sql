-- Marks the caller's notifications as read, all of them or those made up to a moment: notifications made after the page was loaded were not
-- seen on it. Returns how many. They are locked in the order of their ids, as by everything that locks several.
create or replace function public.mark_all_notifications_read(p_before timestamptz default null) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_owner record := notify.inbox_owner();
  v_marked integer;
begin
  update notify.notifications n set read_at = clock_timestamp()
   where n.id = any (array(
     select u.id from notify.notifications u
      where u.workspace_id = v_owner.workspace_id and u.recipient_kind = 'member' and u.recipient = v_owner.member_id
        and u.channels @> array['in-app'] and u.read_at is null and u.created_at <= coalesce(p_before, clock_timestamp())
      order by u.id for no key update));
  get diagnostics v_marked = row_count;
  return v_marked;
end
$$;
comment on function public.mark_all_notifications_read(timestamptz)
  is 'Marks notifications as read, up to a moment; how many. Nullable: p_before.';
