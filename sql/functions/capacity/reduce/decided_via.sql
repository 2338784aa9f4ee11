-- Through which entrance a decision was taken, by its moment.
create or replace function capacity.decided_via(p_request_id text, p_event_type public.capacity_request_event_type, p_at timestamptz)
returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select e.via from capacity.events e
   where e.request_id = p_request_id and e.event_type = p_event_type and e.created_at = p_at
   order by e.seq limit 1;
$$;
comment on function capacity.decided_via(text, public.capacity_request_event_type, timestamptz)
  is 'Through which entrance a decision was taken. Nullable: result.';
