-- A dispute with a status that we do not know, because Stripe adds statuses over the years. It is treated as open, so that nothing is
-- refunded automatically, until Stripe reports a status that we know. A dispute that we already have keeps its state. A person checks it.
create or replace function billing.note_strange_dispute(
  p_payment billing.payments, p_dispute jsonb, p_event_id text, p_at timestamptz
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text := left(coalesce(p_dispute ->> 'status', 'none'), 60);
begin
  insert into billing.disputes (stripe_id, workspace_id, request_id, payment_id, currency, amount, status, opened_at)
  values (p_dispute ->> 'id', p_payment.workspace_id, p_payment.request_id, p_payment.id, p_payment.currency,
          (p_dispute ->> 'amount')::bigint, v_status, coalesce(to_timestamp((p_dispute ->> 'created')::bigint), p_at))
  on conflict (stripe_id) do nothing;
  update billing.payments p set next_look_at = coalesce(p.next_look_at, clock_timestamp() + interval '1 day') where p.id = p_payment.id;
  return billing.record_finding('unknown_dispute', p_dispute ->> 'id', p_payment.request_id,
    format('The customer disputes a payment, and Stripe calls that "%s", a status that is not known here. Our refunds wait until it '
           'has ended.',
           v_status), p_event_id);
end
$$;
comment on function billing.note_strange_dispute(billing.payments, jsonb, text, timestamptz)
  is 'Keeps a dispute whose status is not known as an open one and returns the outcome.';
