-- Has Stripe end a subscription. No money moves, so this uses its own stream and waits for no refund. Calling it twice asks once; but a
-- call that was given up is made again, under another key, because Stripe would otherwise charge forever.
create or replace function billing.cancel_at_stripe(p_workspace_id text, p_stripe_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_given_up bigint := (select count(*) from outbox.rows o
                         where o.stream_id = outbox.stream_id('subscriptions') and o.instruction_id = p_stripe_id
                           and outbox.is_lost(o.outbox_id));
begin
  if p_stripe_id is null then
    return;
  end if;
  perform billing.ask_stripe(jsonb_build_object(
    'workspace_id', p_workspace_id, 'stream', 'subscriptions', 'key', p_stripe_id, 'instruction_id', p_stripe_id,
    'idempotency_key', 'cancel' || case when v_given_up > 0 then '-' || v_given_up + 1 else '' end,
    'payload', jsonb_build_object('operation', 'subscription.cancel', 'subscription_id', p_stripe_id), 'capture', 'subscription'));
end
$$;
comment on function billing.cancel_at_stripe(text, text) is 'Enqueues the call that ends a subscription at Stripe. Nullable: p_stripe_id.';
