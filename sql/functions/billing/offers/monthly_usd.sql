-- What an offer is worth a month in dollars, for escalation rules. A single payment for a known duration is divided by its months. It
-- counts in full if it is for less than a month or for any duration: otherwise a request for ten years would need no approval. Null if no
-- rate is known: then it may be worth anything.
create or replace function billing.monthly_usd(p_price billing.prices, p_amount bigint) returns numeric
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_days integer := case p_price.kind when 'one_off' then greatest(p_price.duration_days, 30) else 30 end;
  v_rate numeric := case p_price.currency when 'USD' then 1 else (
    select x.usd from billing.exchange_rates x where x.workspace_id = p_price.workspace_id and x.currency = p_price.currency) end;
begin
  return round(p_amount * 30 * v_rate / (v_days * 10::numeric ^ billing.currency_digits(p_price.currency)), 2);
end
$$;
comment on function billing.monthly_usd(billing.prices, bigint) is 'What an amount is worth a month. Nullable: result.';
