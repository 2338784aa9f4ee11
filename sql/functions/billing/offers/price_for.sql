-- The price that applies to these terms now, among those not withdrawn: one for the region before one for all regions, then one for the
-- duration before one for any, then one in the workspace's currency, then the newest. Sizes are compared as the rules compare them.
create or replace function billing.price_for(p_workspace_id text, p_size text, p_region text, p_duration_days integer)
returns billing.prices
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_price billing.prices;
begin
  select p.* into v_price
    from billing.prices p
   where p.workspace_id = p_workspace_id and upper(p.size collate "C") = upper(p_size collate "C")
     and p.valid_from <= clock_timestamp() and p.withdrawn_at is null
     and (p.region is null or p.region = p_region) and (p.duration_days is null or p.duration_days = p_duration_days)
   order by p.region is null, p.duration_days is null, p.currency <> billing.currency_of(p_workspace_id), p.valid_from desc,
            p.created_at desc, p.id
   limit 1;
  return v_price;
end
$$;
comment on function billing.price_for(text, text, text, integer) is 'The price of one instance. Nullable: p_duration_days, result.';
