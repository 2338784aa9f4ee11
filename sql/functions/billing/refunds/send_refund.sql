-- Enqueues a refund in billing's own stream of money, in the lane of its payment. The refund's id is the instruction, so Stripe is asked
-- for it under one key, however often it is tried.
create or replace function billing.send_refund(p_payment billing.payments, p_refund billing.refunds, p_amount bigint)
returns billing.refunds
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_refund billing.refunds;
begin
  update billing.refunds r
     set state = 'sent', held_by = null, amount = p_amount, updated_at = clock_timestamp(),
         next_look_at = clock_timestamp() + interval '5 minutes',
         outbox_id = billing.ask_stripe(jsonb_build_object(
           'workspace_id', r.workspace_id, 'stream', 'refunds', 'key', r.payment_id, 'instruction_id', r.id, 'idempotency_key', 'refund',
           'payload', jsonb_build_object(
             'operation', 'refund', 'amount', p_amount, 'currency', r.currency, 'destination', p_payment.payment_intent,
             'refund_id', r.id, 'request_id', r.request_id, 'payment_id', r.payment_id,
             'installation_id', billing.installation_id(), 'reason', r.reason),
           'capture', 'refund:' || r.id))
   where r.id = p_refund.id
  returning r.* into strict v_refund;
  return v_refund;
end
$$;
comment on function billing.send_refund(billing.payments, billing.refunds, bigint) is 'Enqueues a refund.';
