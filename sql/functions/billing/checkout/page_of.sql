-- The address at which a checkout can be paid now. Null where it cannot, or where the address is unknown: it was erased, or Stripe reported
-- the page without it.
create or replace function billing.page_of(p_checkout billing.checkouts) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select nullif(s.url, '(erased)') from billing.sessions s
   where s.checkout_id = p_checkout.id and p_checkout.state in ('asked', 'open') and p_checkout.expires_at > clock_timestamp();
$$;
comment on function billing.page_of(billing.checkouts) is 'The address at which a checkout is paid. Nullable: result.';
