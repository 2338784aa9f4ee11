-- Whether the price of an offer was withdrawn: then the offer can no longer be paid, and a payment that still arrives is refunded.
create or replace function billing.is_withdrawn(p_offer jsonb) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from billing.prices p where p.id = (p_offer ->> 'price_id')::uuid and p.withdrawn_at is not null);
$$;
comment on function billing.is_withdrawn(jsonb) is 'Whether the price of an offer was withdrawn.';
