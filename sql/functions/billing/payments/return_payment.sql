-- A payment that does not count is refunded in full, and a subscription that came with it is ended.
create or replace function billing.return_payment(p_request capacity.requests, p_payment billing.payments, p_stripe_subscription text)
returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_stripe_subscription is not null then
    perform billing.cancel_at_stripe(p_request.workspace_id, p_stripe_subscription);
  end if;
  perform billing.tell(p_request.id, format('The customer paid %s, and it goes back: %s.',
    billing.amount_words(p_payment.currency, p_payment.amount), billing.reason_words(p_payment.refund_reason)),
    p_payment.refund_reason = 'unmatched');
  perform billing.settle(p_payment.id);
end
$$;
comment on function billing.return_payment(capacity.requests, billing.payments, text)
  is 'Refunds a payment that does not count. Nullable: p_stripe_subscription.';
