-- A payment that was being processed has failed: the customer is asked to pay again while the offer is open. A subscription that came with
-- it is ended, because Stripe would keep trying to charge it. Null when the checkout had already moved on. The caller has locked the
-- request.
create or replace function billing.fail_checkout(
  p_request capacity.requests, p_checkout billing.checkouts, p_stripe_subscription text, p_at timestamptz
) returns billing.checkouts
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_checkout billing.checkouts := billing.move_checkout(p_checkout, 'FAILED', p_at);
begin
  if v_checkout.id is not null then
    perform billing.cancel_at_stripe(p_request.workspace_id, p_stripe_subscription);
    perform billing.tell_failed(p_request);
  end if;
  return v_checkout;
end
$$;
comment on function billing.fail_checkout(capacity.requests, billing.checkouts, text, timestamptz)
  is 'Follows a payment that failed. Nullable: p_stripe_subscription, result.';
