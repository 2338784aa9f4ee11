-- The streams and their settings, as relays and people read them.
create or replace function outbox.list_streams() returns setof outbox.streams
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select * from outbox.streams order by stream_id;
$$;
comment on function outbox.list_streams() is 'All streams and their settings.';
