-- Whether Stripe has made no page for a checkout and will make none: the call was given up, and it is certain that it had no effect.
create or replace function billing.has_no_page(p_checkout billing.checkouts) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select billing.is_given_up('billing', p_checkout.id::text, 'create')
     and not billing.is_in_doubt('billing', p_checkout.id::text, 'create');
$$;
comment on function billing.has_no_page(billing.checkouts) is 'Whether a checkout certainly has no page at Stripe.';
