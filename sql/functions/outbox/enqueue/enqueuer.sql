-- The role on whose behalf rows are enqueued: the role that the session set, or its login. In a definer function current_user is the owner.
create or replace function outbox.enqueuer() returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(nullif(nullif(current_setting('role', true), ''), 'none'), session_user);
$$;
comment on function outbox.enqueuer() is 'The role that enqueues, as streams name their writers.';
