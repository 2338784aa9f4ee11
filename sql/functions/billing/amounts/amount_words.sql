-- An amount for people, exact and the same everywhere: "USD 1,200.00", "JPY 1,200", "KWD 5.120", "ISK 500". Pages that know the reader's
-- language format it for that language.
create or replace function billing.amount_words(p_currency text, p_amount bigint) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_digits integer := billing.currency_digits(p_currency);
  v_whole numeric := p_amount::numeric / (10::numeric ^ coalesce(v_digits, 0));
begin
  if v_digits is null then
    return p_amount || ' minor units of ' || p_currency;
  end if;
  return p_currency || ' ' || to_char(v_whole, 'FM9,999,999,999,999,999,990' || case
    when v_digits = 0 or p_currency in ('ISK', 'UGX') and p_amount % 100 = 0 then '' when v_digits = 3 then '.000' else '.00' end);
end
$$;
comment on function billing.amount_words(text, bigint) is 'An amount of money in words. Nullable: result.';
