-- The exchange rates that rules use.
create or replace function billing.list_rates(p_workspace_id text) returns setof billing.exchange_rates
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select * from billing.exchange_rates x where x.workspace_id = p_workspace_id order by x.currency;
$$;
comment on function billing.list_rates(text) is 'The exchange rates of a workspace.';
