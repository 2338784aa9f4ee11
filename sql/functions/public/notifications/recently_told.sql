-- Which members have got or read a notification since a moment, in microseconds since 1970. Our own server asks this once a second for all
-- connected members, so that it looks up only those with something new.
create or replace function public.recently_told(p_since bigint) returns table (workspace_id text, member_id text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_since timestamptz := timestamptz 'epoch' + p_since * interval '1 microsecond';
begin
  perform directory.require_purpose('events');
  return query
  select n.workspace_id, n.recipient
    from (select n.workspace_id, n.recipient, n.recipient_kind from notify.notifications n where n.created_at >= v_since
          union all
          select n.workspace_id, n.recipient, n.recipient_kind from notify.notifications n where n.read_at >= v_since) n
   where n.recipient_kind = 'member' group by 1, 2 limit 10000;
end
$$;
comment on function public.recently_told(bigint) is 'Which members have got or read a notification since a moment.';
