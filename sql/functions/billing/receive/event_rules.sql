-- The events of Stripe that are followed, and what each reports. The documentation is generated from this table; all other events are
-- ignored.
create or replace function billing.event_rules() returns table (event_type text, object text, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('checkout.session.completed', 'checkout.session', 'the customer has completed Checkout: it is paid, or the money is on its way'),
    ('checkout.session.async_payment_succeeded', 'checkout.session', 'a payment that took days has arrived'),
    ('checkout.session.async_payment_failed', 'checkout.session', 'a payment that took days has failed: the customer may pay again'),
    ('checkout.session.expired', 'checkout.session', 'nobody paid in time, or we ended it'),
    ('refund.created', 'refund', 'a refund was made, by us or in the dashboard'),
    ('refund.updated', 'refund', 'the current state of a refund'),
    ('refund.failed', 'refund', 'a refund failed, perhaps days after it succeeded'),
    ('charge.dispute.created', 'dispute', 'the customer disputes a payment with their bank'),
    ('charge.dispute.updated', 'dispute', 'the current state of a dispute'),
    ('charge.dispute.closed', 'dispute', 'a dispute is won or lost'),
    ('charge.dispute.funds_withdrawn', 'dispute', 'the bank took the money until the dispute ends'),
    ('charge.dispute.funds_reinstated', 'dispute', 'the bank gave the money back'),
    ('invoice.paid', 'invoice', 'a subscription was renewed'),
    ('invoice.payment_failed', 'invoice', 'a renewal failed; Stripe tries again'),
    ('customer.subscription.updated', 'subscription', 'a subscription is late, paid again, or will end'),
    ('customer.subscription.deleted', 'subscription', 'a subscription has ended, by us or in the dashboard')
$$;
comment on function billing.event_rules() is 'The events of Stripe that are followed.';
