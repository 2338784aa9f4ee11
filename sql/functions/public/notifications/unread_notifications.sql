-- How many notifications the caller has not read, up to a thousand, and the newest one: from both, an open page knows whether it is
-- up to date.
create or replace function public.unread_notifications(out unread integer, out latest uuid)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_owner record := notify.inbox_owner();
begin
  select count(*) into unread
    from (select from notify.notifications n join notify.shown s on s.notification_id = n.id
           where n.recipient_kind = 'member' and n.channels @> array['in-app'] and n.read_at is null and n.erased_at is null
             and n.workspace_id = v_owner.workspace_id and n.recipient = v_owner.member_id
           limit 1000) n;
  select n.id into latest
    from notify.notifications n join notify.shown s on s.notification_id = n.id
   where n.recipient_kind = 'member' and n.channels @> array['in-app'] and n.erased_at is null
     and n.workspace_id = v_owner.workspace_id and n.recipient = v_owner.member_id
   order by n.created_at desc, n.id desc limit 1;
end
$$;
comment on function public.unread_notifications() is 'How many notifications are unread, and the newest. Nullable: latest.';
