-- The prices of a workspace by size, region and duration, the newest first.
create or replace function billing.list_prices(p_workspace_id text) returns setof billing.prices
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select * from billing.prices p where p.workspace_id = p_workspace_id
   order by upper(p.size collate "C"), p.region nulls last, p.duration_days nulls last, p.currency, p.valid_from desc, p.created_at desc;
$$;
comment on function billing.list_prices(text) is 'All prices of a workspace, withdrawn and future ones too.';
