-- The logins that may notify people, and whether they still exist.
create or replace function notify.list_producers() returns table (role_name text, added_at timestamptz, added_by text, present boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select p.role_name::text, p.added_at, p.added_by, exists (select from pg_roles r where r.rolname = p.role_name)
    from notify.producers p order by 1;
$$;
comment on function notify.list_producers() is 'The logins that may notify people.';
