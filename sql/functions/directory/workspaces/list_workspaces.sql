-- The workspaces and their settings.
create or replace function directory.list_workspaces() returns setof directory.workspaces
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select * from directory.workspaces order by id;
$$;
comment on function directory.list_workspaces() is 'All workspaces and their settings.';
