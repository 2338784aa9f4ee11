-- The hook capacity.offer_made: what a request with these terms costs. Without a price it returns nothing, and the customer confirms
-- without paying. An amount that Stripe would not accept is refused now, before anyone is asked to pay it.
--
-- The offer contains the amount in words, so that it is shown the same everywhere.
create or replace function billing.offer_for(p_terms jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text := p_terms ->> 'workspace_id';
  v_quantity integer := (p_terms ->> 'quantity')::integer;
  v_duration_days integer := (p_terms ->> 'expected_duration_days')::integer;
  v_price billing.prices := billing.price_for(v_workspace_id, p_terms ->> 'requested_size', p_terms ->> 'region', v_duration_days);
  v_amount bigint;
  v_problem text;
begin
  if v_price.id is null then
    return '{}';
  end if;
  v_amount := v_price.unit_amount * v_quantity;
  v_problem := billing.amount_problem(v_price.currency, v_amount);
  if v_problem is null and v_amount < billing.least_amount(v_price.currency) then
    v_problem := format('amount: at least %s, the least that Stripe accepts in one payment',
                        billing.amount_words(v_price.currency, billing.least_amount(v_price.currency)));
  end if;
  if v_problem is not null then
    perform headroom.fail('invalid_input', format('The price of this request cannot be paid: %s × %s is %s.', v_quantity,
        billing.amount_words(v_price.currency, v_price.unit_amount), billing.amount_words(v_price.currency, v_amount)),
      v_problem, 'Ask for less, or have the price changed. Nothing was written.');
  end if;
  return jsonb_build_object('offer', jsonb_build_object(
    'price_id', v_price.id, 'kind', v_price.kind, 'currency', v_price.currency, 'unit_amount', v_price.unit_amount,
    'quantity', v_quantity, 'amount', v_amount, 'interval', case v_price.kind when 'recurring' then 'month' end,
    'duration_days', v_duration_days,
    'monthly_usd', billing.monthly_usd(v_price, v_amount),
    'words', billing.amount_words(v_price.currency, v_amount)));
end
$$;
comment on function billing.offer_for(jsonb) is 'What a request costs: the hook of its submission.';
