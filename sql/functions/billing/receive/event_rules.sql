-- Which events of Stripe are followed, and what is learnt from each. The documentation is drawn from it; all others are ignored.
create or replace function billing.event_rules() returns table (event_type text, object text, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('checkout.session.completed', 'checkout.session', 'the customer has been through Checkout: has paid, or the money is on its way'),
    ('checkout.session.async_payment_succeeded', 'checkout.session', 'a payment that took days has arrived'),
    ('checkout.session.async_payment_failed', 'checkout.session', 'a payment that took days has failed: the customer may pay again'),
    ('checkout.session.expired', 'checkout.session', 'nobody paid in time, or we ended it'),
    ('refund.created', 'refund', 'money goes back, by us or by somebody in the dashboard'),
    ('refund.updated', 'refund', 'how a refund stands now'),
    ('refund.failed', 'refund', 'a refund failed, perhaps days after it succeeded'),
    ('charge.dispute.created', 'dispute', 'the customer disputes a payment with their bank'),
    ('charge.dispute.updated', 'dispute', 'how a dispute stands now'),
    ('charge.dispute.closed', 'dispute', 'a dispute is won or lost'),
    ('charge.dispute.funds_withdrawn', 'dispute', 'the bank took the money meanwhile'),
    ('charge.dispute.funds_reinstated', 'dispute', 'the bank gave the money back'),
    ('invoice.paid', 'invoice', 'a subscription was renewed'),
    ('invoice.payment_failed', 'invoice', 'a renewal failed; Stripe tries again'),
    ('customer.subscription.updated', 'subscription', 'a subscription is late, paid again, or will end'),
    ('customer.subscription.deleted', 'subscription', 'a subscription has ended, by us or in the dashboard')
$$;
comment on function billing.event_rules() is 'The events of Stripe that are followed.';
