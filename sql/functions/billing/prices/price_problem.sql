-- What is wrong with a new price, as "field: what would be right", or null. These are the table's rules, in words, and Stripe's.
create or replace function billing.price_problem(p_price billing.prices) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_amount text := billing.amount_problem(p_price.currency, p_price.unit_amount);
begin
  return case
    when coalesce(p_price.size !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$', true)
      then 'size: up to 32 letters, digits, dots, dashes and underscores, such as 32XL'
    when p_price.region !~ '^[a-z0-9-]{2,32}$' then 'region: 2 to 32 lower-case letters, digits and dashes, or null for all'
    when p_price.duration_days not between 1 and 3650 then 'duration_days: from 1 to 3650, or null for any'
    when coalesce(p_price.kind, '') not in ('one_off', 'recurring') then 'kind: one_off or recurring'
    when starts_with(v_amount, 'amount') then 'unit_' || v_amount
    when v_amount is not null then v_amount
    when p_price.valid_from < clock_timestamp() - interval '1 minute' or p_price.valid_from > clock_timestamp() + interval '3650 days'
      then 'valid_from: from now on, within ten years'
  end;
end
$$;
comment on function billing.price_problem(billing.prices) is 'What is wrong with a new price. Nullable: result.';
