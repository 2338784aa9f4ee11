-- Has Stripe end a subscription. No money moves, so it has a stream of its own and waits for no refund. Asked twice, it is asked once.
create or replace function billing.cancel_at_stripe(p_workspace_id text, p_stripe_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform billing.ask_stripe(p_workspace_id, 'subscriptions', p_stripe_id, p_stripe_id, 'cancel',
    jsonb_build_object('operation', 'subscription.cancel', 'subscription_id', p_stripe_id), 'subscription');
end
$$;
comment on function billing.cancel_at_stripe(text, text) is 'Enqueues the end of a subscription at Stripe.';
