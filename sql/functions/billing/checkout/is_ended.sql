-- Whether a checkout was for a subscription that we ended because its first payment failed. A later payment for it is refunded, however we
-- learn of it.
create or replace function billing.is_ended(p_checkout billing.checkouts) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_checkout.mode = 'subscription' and p_checkout.state = 'failed' and p_checkout.processing_since is not null, false);
$$;
comment on function billing.is_ended(billing.checkouts) is 'Whether the subscription of a checkout was ended before it was paid.';
