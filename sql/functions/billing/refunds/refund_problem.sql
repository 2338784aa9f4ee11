-- What does not agree about a refund that Stripe reports, or null: it is of another payment than the one we know it for (its metadata can
-- claim any), of another amount than ours, in another currency than the payment's, or of more than was paid.
create or replace function billing.refund_problem(p_payment billing.payments, p_known billing.refunds, p_refund jsonb) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
    when x.amount is null or x.amount = 0 or p_refund ->> 'currency' is distinct from p_payment.currency
         or p_refund ->> 'payment_intent' <> p_payment.payment_intent
      then format('Stripe reports a refund that does not match the payment of %s.',
                  billing.amount_words(p_payment.currency, p_payment.amount))
    when p_known.id is not null and p_known.amount <> x.amount
      then format('Stripe refunded %s, but we asked for %s.', billing.amount_words(p_payment.currency, x.amount),
                  billing.amount_words(p_payment.currency, p_known.amount))
    when x.amount > p_payment.amount
      then format('Stripe reports a refund of more than the payment of %s.', billing.amount_words(p_payment.currency, p_payment.amount))
    end
    from (select (p_refund ->> 'amount')::bigint as amount) x;
$$;
comment on function billing.refund_problem(billing.payments, billing.refunds, jsonb)
  is 'What is wrong with a refund that Stripe reports. Nullable: p_known, result.';
