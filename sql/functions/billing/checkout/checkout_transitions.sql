-- What happens to a checkout on each event, in whatever order events arrive. Paid is final and reachable from every other state, because
-- money that was taken was taken. An event that is not in the table changes nothing.
create or replace function billing.checkout_transitions() returns table (state_before text, event text, state_after text, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('asked', 'ANSWERED', 'open', 'Stripe made the page'),
    ('asked', 'GIVEN_UP', 'failed', 'Stripe refused to make the page, or could not be reached'),
    ('asked', 'PROCESSING', 'processing', 'the customer paid by a method that takes days'),
    ('asked', 'PAID', 'paid', 'the payment was taken'),
    ('asked', 'FAILED', 'failed', 'the payment failed'),
    ('asked', 'EXPIRED', 'expired', 'nobody paid in time'),
    ('asked', 'ABANDONED', 'abandoned', 'we asked Stripe to end it'),
    ('open', 'PROCESSING', 'processing', 'the customer paid by a method that takes days'),
    ('open', 'PAID', 'paid', 'the payment was taken'),
    ('open', 'FAILED', 'failed', 'the payment failed'),
    ('open', 'EXPIRED', 'expired', 'nobody paid in time'),
    ('open', 'ABANDONED', 'abandoned', 'we asked Stripe to end it'),
    ('processing', 'PAID', 'paid', 'the payment was taken'),
    ('processing', 'FAILED', 'failed', 'the payment failed'),
    ('abandoned', 'PROCESSING', 'processing', 'it was paid, by a method that takes days, before Stripe ended it'),
    ('abandoned', 'PAID', 'paid', 'it was paid before Stripe ended it'),
    ('abandoned', 'FAILED', 'failed', 'the payment failed'),
    ('abandoned', 'EXPIRED', 'expired', 'Stripe ended it'),
    ('failed', 'PAID', 'paid', 'the payment was taken after all'),
    ('expired', 'PAID', 'paid', 'the payment was taken after all'),
    ('asked', 'MISMATCHED', 'mismatched', 'what was paid is not what was asked for: a person looks at it'),
    ('open', 'MISMATCHED', 'mismatched', 'what was paid is not what was asked for: a person looks at it'),
    ('processing', 'MISMATCHED', 'mismatched', 'what was paid is not what was asked for: a person looks at it'),
    ('abandoned', 'MISMATCHED', 'mismatched', 'what was paid is not what was asked for: a person looks at it'),
    ('failed', 'MISMATCHED', 'mismatched', 'what was paid is not what was asked for: a person looks at it'),
    ('expired', 'MISMATCHED', 'mismatched', 'what was paid is not what was asked for: a person looks at it'),
    ('mismatched', 'PAID', 'paid', 'the payment was taken after all')
$$;
comment on function billing.checkout_transitions() is 'Every allowed step of a checkout.';
