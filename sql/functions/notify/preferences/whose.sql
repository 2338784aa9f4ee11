-- The name under which the choices of a notification's recipient are stored: a member's id, or the keyed hash of an address. A group has
-- none.
create or replace function notify.whose(p_notification notify.notifications) returns text
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select case p_notification.recipient_kind when 'member' then 'member:' || p_notification.recipient when 'group' then null
           else 'address:' || encode(notify.address_mark(p_notification.workspace_id, p_notification.address), 'hex') end;
$$;
comment on function notify.whose(notify.notifications) is 'The name under which a recipient''s choices are stored. Nullable: result.';
