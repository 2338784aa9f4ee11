-- How long a message about something waits for more about the same thing.
create or replace function notify.burst() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select interval '10 seconds';
$$;
comment on function notify.burst() is 'How long a burst is waited for.';
