-- Whether the price of an offer was withdrawn: then it can no longer be paid, and what is paid all the same goes back.
create or replace function billing.is_withdrawn(p_offer jsonb) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from billing.prices p where p.id = (p_offer ->> 'price_id')::uuid and p.withdrawn_at is not null);
$$;
comment on function billing.is_withdrawn(jsonb) is 'Whether the price of an offer was withdrawn.';
