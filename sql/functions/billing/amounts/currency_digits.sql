-- How many of an amount's last digits are decimals, as Stripe counts them; null for a currency that Stripe does not accept. Krona and
-- shilling (ISK, UGX) no longer have decimals, but Stripe still counts hundredths of them, which are always zero.
create or replace function billing.currency_digits(p_currency text) returns integer
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_currency in ('BIF', 'CLP', 'DJF', 'GNF', 'JPY', 'KMF', 'KRW', 'MGA', 'PYG', 'RWF', 'VND', 'VUV', 'XAF', 'XOF', 'XPF') then 0
    when p_currency in ('BHD', 'JOD', 'KWD', 'OMR', 'TND') then 3
    when p_currency = any (string_to_array(
      'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CNY COP CRC CVE CZK DKK DOP '
      'DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD KES KGS KHR KYD KZT LAK LBP LKR LRD LSL MAD '
      'MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SEK SGD '
      'SHP SLE SOS SRD STD SZL THB TJS TOP TRY TTD TWD TZS UAH UGX USD UYU UZS WST XCD YER ZAR ZMW', ' ')) then 2
  end;
end
$$;
comment on function billing.currency_digits(text) is 'The decimals in Stripe''s minor units of a currency. Nullable: result.';
