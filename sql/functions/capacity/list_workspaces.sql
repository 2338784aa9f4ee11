-- The workspaces and their settings.
create or replace function capacity.list_workspaces() returns setof capacity.workspaces
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select * from capacity.workspaces order by id;
$$;
comment on function capacity.list_workspaces() is 'All workspaces and their settings.';
