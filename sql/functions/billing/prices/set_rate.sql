-- Sets the exchange rate in dollars that rules use for a currency, or, with null, removes it. Open requests keep the rate that they were
-- submitted under. No money is ever converted with it.
create or replace function billing.set_rate(p_workspace_id text, p_currency text, p_usd numeric, p_actor text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.check_actor(p_actor);
  if not exists (select from directory.workspaces w where w.id = p_workspace_id) then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(p_workspace_id, 64)), null,
                          'Create it first, or name another one.');
  elsif billing.currency_digits(p_currency) is null or p_currency = 'USD' then
    perform headroom.fail('invalid_input', 'The currency of the rate is not acceptable.',
      'currency: one that Stripe accepts, other than USD, in capital letters, such as EUR', 'Nothing was changed.');
  elsif p_usd <= 0 or p_usd >= 1000000 or p_usd = 'NaN' or scale(p_usd) > 12 then
    perform headroom.fail('invalid_input', 'The usd of the rate is not acceptable.',
      'usd: what one unit is worth, more than 0 and less than 1000000, such as 1.08', 'Nothing was changed.');
  end if;
  if p_usd is null then
    delete from billing.exchange_rates x where x.workspace_id = p_workspace_id and x.currency = p_currency;
    return;
  end if;
  insert into billing.exchange_rates as x (workspace_id, currency, usd, set_by) values (p_workspace_id, p_currency, p_usd, p_actor)
  on conflict (workspace_id, currency) do update set usd = excluded.usd, set_by = excluded.set_by, set_at = clock_timestamp();
end
$$;
comment on function billing.set_rate(text, text, numeric, text) is 'Sets or removes an exchange rate. Nullable: p_usd.';
