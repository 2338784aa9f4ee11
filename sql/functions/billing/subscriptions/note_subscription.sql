-- Fills in the subscription at Stripe that came with a payment, if it was unknown: only then can it be followed and ended. If the payment
-- is refunded, the subscription is ended.
create or replace function billing.note_subscription(p_payment billing.payments, p_stripe_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_stripe_id is null then
    return;
  elsif not p_payment.counts then
    perform billing.cancel_at_stripe(p_payment.workspace_id, p_stripe_id);
    return;
  end if;
  update billing.subscriptions s set stripe_id = p_stripe_id, next_look_at = clock_timestamp()
   where s.payment_id = p_payment.id and s.kind = 'recurring' and s.stripe_id is null;
end
$$;
comment on function billing.note_subscription(billing.payments, text)
  is 'Records the subscription at Stripe of a payment. Nullable: p_stripe_id.';
