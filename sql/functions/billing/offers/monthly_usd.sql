-- What an offer is worth a month in dollars, which escalation rules ask for. What is paid once counts by the month, and whole where it is
-- for less than a month or nobody said for how long. Null where no rate is known: then it may be worth anything.
create or replace function billing.monthly_usd(p_workspace_id text, p_price billing.prices, p_amount bigint, p_duration_days integer)
returns numeric
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_days integer := case p_price.kind when 'one_off' then greatest(p_duration_days, 30) else 30 end;
  v_rate numeric := case p_price.currency when 'USD' then 1 else (
    select x.usd from billing.exchange_rates x where x.workspace_id = p_workspace_id and x.currency = p_price.currency) end;
begin
  return round(p_amount * 30 * v_rate / (v_days * 10::numeric ^ billing.currency_digits(p_price.currency)), 2);
end
$$;
comment on function billing.monthly_usd(text, billing.prices, bigint, integer)
  is 'What an amount is worth a month. Nullable: p_duration_days, result.';
