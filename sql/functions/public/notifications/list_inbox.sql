-- A page of the caller's inbox, newest first: older than a given notification, and about a given request, where these are named.
-- Somebody else's notification is treated as one that does not exist, with the same amount of work: so this query uses neither the view,
-- which finds out the reader only if there is a row, nor the index of what notifications are about.
create or replace function public.list_inbox(p_older_than uuid default null, p_limit integer default 30, p_about text default null)
returns setof public.notifications
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_owner record := notify.inbox_owner();
  v_at timestamptz;
begin
  select n.created_at into v_at from notify.notifications n
   where n.id = p_older_than and n.workspace_id = v_owner.workspace_id and n.recipient_kind = 'member'
     and n.recipient = v_owner.member_id;
  if p_older_than is not null and v_at is null then
    return;
  end if;
  return query
  select n.* from public.notifications n
   where (p_older_than is null or (n.created_at, n.id) < (v_at, p_older_than)) and (p_about is null or n.about is not distinct from p_about)
   order by n.created_at desc, n.id desc limit least(greatest(coalesce(p_limit, 30), 1), 1000);
end
$$;
comment on function public.list_inbox(uuid, integer, text)
  is 'A page of one''s inbox. Nullable: p_older_than, p_about, about, action_url, read_at.';
