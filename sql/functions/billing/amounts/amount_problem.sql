-- Why Stripe would not accept an amount, as "field: what would be right", or null. Amounts with three decimals must end in 0, amounts in
-- krona and shilling in 00. The maximum is eight digits, or twelve for rupiah.
create or replace function billing.amount_problem(p_currency text, p_amount bigint) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_digits integer := billing.currency_digits(p_currency);
  v_max bigint := case when p_currency = 'IDR' then 999999999999 when p_currency in ('ISK', 'UGX') then 99999900
                        when v_digits = 3 then 99999990 else 99999999 end;
begin
  return case
    when v_digits is null then 'currency: one that Stripe accepts, in capital letters, such as USD'
    when p_amount is null or p_amount < 1 then 'amount: a whole number of minor units, at least 1'
    when p_amount > v_max
      then format('amount: at most %s, the most that Stripe accepts in one payment', billing.amount_words(p_currency, v_max))
    when v_digits = 3 and p_amount % 10 <> 0 then format('amount: in %s it ends in 0, because Stripe accepts no thousandths', p_currency)
    when p_currency in ('ISK', 'UGX') and p_amount % 100 <> 0
      then format('amount: in %s it ends in 00, because Stripe counts hundredths and accepts none', p_currency)
  end;
end
$$;
comment on function billing.amount_problem(text, bigint) is 'What is wrong with an amount of money. Nullable: result.';
