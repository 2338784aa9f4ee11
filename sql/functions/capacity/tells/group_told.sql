-- The group that was told in its channel that the technical review of a request waits for it. What it was told is the record: the directory
-- may have changed since. A reminder alone does not count: the thread, which may be in that channel, says the rest.
create or replace function capacity.group_told(p_request capacity.requests) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select n.recipient from notify.notifications n
   where n.about = p_request.id and n.recipient_kind = 'group' and n.cause in ('REQUEST_SUBMITTED', 'nudge')
   order by n.created_at limit 1;
$$;
comment on function capacity.group_told(capacity.requests) is 'The group that was told of a review in its channel. Nullable: result.';
