-- What money waits for, in words: for lists, metrics and the documentation. The view billing.waiting lists what waits now.
create or replace function billing.waiting_states() returns table (state text, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('asked', 'a customer wants to pay, and Stripe has not made the page yet'),
    ('processing', 'the customer paid by a method that takes days'),
    ('refund_sent', 'Stripe was asked for a refund, or has accepted it'),
    ('refund_held_payment_intent', 'a refund waits for the id of the payment at Stripe, which is being asked for'),
    ('refund_held_dispute', 'a refund waits for the end of a dispute'),
    ('refund_held_refund', 'a refund waits for another refund of the same payment, which is on its way'),
    ('refund_held_person', 'a refund failed on every try, or was cancelled at Stripe: a person decides'),
    ('refund_failed', 'a refund failed or was cancelled in the last seven days, and nothing has taken its place'),
    ('disputed', 'the customer disputes the payment with their bank'),
    ('past_due', 'a renewal failed'),
    ('finding', 'what Stripe reported does not agree with our records, and nobody has resolved it'),
    ('unread', 'answers of Stripe that the sweep has not read yet')
$$;
comment on function billing.waiting_states() is 'What money waits for.';
