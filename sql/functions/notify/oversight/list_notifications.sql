-- Notifications with their outcomes, newest first; of all workspaces where none is named. A status is derived, so a filter by status
-- searches only the newest ten thousand.
create or replace function notify.list_notifications(
  p_workspace_id text default null, p_recipient text default null, p_status text default null, p_about text default null,
  p_limit integer default 50
) returns table (
  id uuid, workspace_id text, recipient_kind text, recipient text, category text, title text, channels text[], priority integer,
  status text, error text, created_at timestamptz, read_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    perform headroom.fail('invalid_input', 'A list has 1 to 10000 notifications.');
  elsif p_status not in ('pending', 'sent', 'delivered', 'failed') then
    perform headroom.fail('invalid_input', format('There is no status "%s".', left(p_status, 40)), 'pending, sent, delivered, failed');
  end if;
  return query
  select n.id, n.workspace_id, n.recipient_kind, n.recipient, n.category, n.title, n.channels, n.priority::integer, s.status,
         s.error_message, n.created_at, n.read_at
    from (select t.* from notify.notifications t
           where (p_workspace_id is null or t.workspace_id = p_workspace_id) and (p_recipient is null or t.recipient = p_recipient)
             and (p_about is null or t.about = p_about)
           order by t.created_at desc, t.id desc limit case when p_status is null then p_limit else 10000 end) n
    join notify.statuses s on s.notification_id = n.id
   where p_status is null or s.status = p_status
   order by n.created_at desc, n.id desc limit p_limit;
end
$$;
comment on function notify.list_notifications(text, text, text, text, integer)
  is 'Notifications with their outcomes. Nullable: title, error, read_at.';
