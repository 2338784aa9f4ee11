-- An invoice of Stripe's with what we read of it in one place, whatever its version of the API: who paid, and when, the metadata of its
-- subscription, and until when it pays.
create or replace function billing.plain_invoice(p_invoice jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select p_invoice || jsonb_build_object(
    'subscription', billing.subscription_of_invoice(p_invoice),
    'payment_intent', coalesce(billing.id_in(p_invoice -> 'payment_intent'),
                               billing.id_in(p_invoice #> '{payments,data,0,payment,payment_intent}')),
    'metadata', coalesce(nullif(p_invoice -> 'metadata', '{}'), p_invoice #> '{parent,subscription_details,metadata}',
                         p_invoice #> '{subscription_details,metadata}', '{}'),
    'paid_at', coalesce(p_invoice #> '{status_transitions,paid_at}', p_invoice -> 'paid_at'),
    'period_end', coalesce(p_invoice #> '{lines,data,0,period,end}', p_invoice -> 'period_end'));
$$;
comment on function billing.plain_invoice(jsonb) is 'An invoice with its fields in one place.';
