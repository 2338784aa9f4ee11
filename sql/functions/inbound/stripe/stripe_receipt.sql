-- The part of a Stripe event that is kept: the ids and amounts that account for it, and nothing about the customer.
create or replace function inbound.stripe_receipt(p_event jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'created', p_event -> 'created', 'livemode', p_event -> 'livemode', 'object', o.object -> 'object', 'id', o.object -> 'id',
    'status', o.object -> 'status', 'payment_status', o.object -> 'payment_status', 'payment_intent', o.object -> 'payment_intent',
    'amount', o.object -> 'amount', 'currency', lower(o.object ->> 'currency'), 'checkout', o.object #> '{metadata,headroom_checkout}'))
    from billing.plain_object(p_event #> '{data,object}') o(object);
$$;
comment on function inbound.stripe_receipt(jsonb) is 'The part of a Stripe event that is kept.';
