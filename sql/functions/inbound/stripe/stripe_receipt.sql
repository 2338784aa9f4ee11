-- What is kept of an event of Stripe's: the ids and amounts that account for it, and nothing about the customer.
create or replace function inbound.stripe_receipt(p_event jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'created', p_event -> 'created', 'livemode', p_event -> 'livemode', 'object', left(p_event #>> '{data,object,object}', 40),
    'id', left(p_event #>> '{data,object,id}', 200), 'status', left(p_event #>> '{data,object,status}', 40),
    'payment_status', left(p_event #>> '{data,object,payment_status}', 40),
    'payment_intent', left(billing.id_in(p_event #> '{data,object,payment_intent}'), 200),
    'amount', coalesce(billing.amount_in(p_event #> '{data,object,amount_total}'),
                       billing.amount_in(p_event #> '{data,object,amount_paid}'),
                       billing.amount_in(p_event #> '{data,object,amount}')),
    'currency', left(p_event #>> '{data,object,currency}', 3),
    'checkout', left(p_event #>> '{data,object,metadata,headroom_checkout}', 36)));
$$;
comment on function inbound.stripe_receipt(jsonb) is 'What is kept of an event of Stripe''s.';
