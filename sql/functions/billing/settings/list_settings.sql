-- How each workspace takes money, defaults included.
create or replace function billing.list_settings() returns setof billing.settings
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select s.* from directory.workspaces w cross join lateral billing.settings_of(w.id) s order by w.id;
$$;
comment on function billing.list_settings() is 'The billing settings of every workspace.';
