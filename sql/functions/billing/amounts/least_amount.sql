-- The minimum that Stripe accepts in one payment in a currency, where Stripe documents one. For other currencies Stripe decides by the
-- amount's value.
create or replace function billing.least_amount(p_currency text) returns bigint
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((
    '{"USD": 50, "AED": 200, "AUD": 50, "BGN": 100, "BRL": 50, "CAD": 50, "CHF": 50, "CZK": 1500, "DKK": 250, "EUR": 50, "GBP": 30,
      "HKD": 400, "HUF": 17500, "INR": 50, "JPY": 50, "MXN": 1000, "MYR": 200, "NOK": 300, "NZD": 50, "PLN": 200, "RON": 200, "SEK": 300,
      "SGD": 50, "THB": 1000}'::jsonb ->> p_currency)::bigint, 1);
end
$$;
comment on function billing.least_amount(text) is 'The minimum of one payment at Stripe, in minor units.';
