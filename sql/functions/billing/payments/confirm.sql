-- A payment that counts is the customer's confirmation: the subscription, the event, and with it the job and its dispatch, are made in the
-- transaction that recorded the payment. The link has been used, so another open page is ended. The notice in the thread comes from the
-- event.
create or replace function billing.confirm(p_request capacity.requests, p_payment billing.payments, p_stripe_subscription text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_open billing.checkouts := billing.open_checkout(p_request.id);
begin
  perform billing.new_subscription(p_request, p_payment, p_stripe_subscription);
  if v_open.id is not null then
    perform billing.abandon_checkout(v_open);
  end if;
  perform capacity.decide(p_request.id, 'CUSTOMER_CONFIRMED', row('system', 'payment:' || p_payment.id, 'stripe')::capacity.actor,
                         jsonb_build_object('payment_id', p_payment.id));
  update capacity.confirmation_tokens t set used_at = clock_timestamp(), used_for = 'CUSTOMER_CONFIRMED'
   where t.request_id = p_request.id and t.revoked_at is null and t.used_at is null;
end
$$;
comment on function billing.confirm(capacity.requests, billing.payments, text)
  is 'Confirms a request by its payment. Nullable: p_stripe_subscription.';
