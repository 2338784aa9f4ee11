-- A price in short, by which a page says which price the visitor saw. Pure.
create or replace function billing.offer_seen(p_offer jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return concat_ws(' ', p_offer ->> 'kind', p_offer ->> 'currency', p_offer ->> 'amount');
end
$$;
comment on function billing.offer_seen(jsonb) is 'A price in short: its kind, currency and amount.';
