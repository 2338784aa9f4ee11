-- A renewal was paid: recorded once, by its invoice, however often and however late it is reported. Whether it counts depends on the state
-- of the request and on when it was paid; one that does not count is refunded, and Stripe is asked again to end the subscription.
create or replace function billing.take_renewal(
  p_request_id text, p_subscription billing.subscriptions, p_invoice jsonb, p_event_id text, p_at timestamptz
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_amount bigint := (p_invoice ->> 'amount')::bigint;
  v_currency text := p_invoice ->> 'currency';
  v_workspace_id text;
  v_reason text;
  v_payment billing.payments;
begin
  select r.workspace_id,
         billing.judge_renewal(
           r.state::text, p_subscription.id is not null,
           -- An invoice without a payment time is treated as paid after the end.
           coalesce(coalesce(to_timestamp((p_invoice ->> 'paid_at')::bigint), to_timestamp((p_invoice ->> 'created')::bigint), 'infinity')
                      > p_subscription.cancel_asked_at, false)
           -- Ended in the dashboard: an invoice from before the end may still be paid.
           or coalesce(coalesce(to_timestamp((p_invoice ->> 'created')::bigint), p_at) > p_subscription.ended_at, false))
    into strict v_workspace_id, v_reason
    from capacity.requests r where r.id = p_request_id;
  if v_amount = 0 then
    return billing.outcome('ignored', p_request_id);
  elsif v_amount is null or billing.currency_digits(v_currency) is null then
    return billing.record_finding('amount_mismatch', p_invoice ->> 'id', p_request_id, 'Stripe reports a renewal without an amount.',
                            p_event_id);
  end if;
  insert into billing.payments (id, workspace_id, request_id, purpose, invoice_id, payment_intent, currency, amount, counts, refund_reason,
                                paid_at, event_id, next_look_at)
  values (gen_random_uuid(), v_workspace_id, p_request_id, case when p_subscription.id is null then 'unmatched' else 'renewal' end,
          p_invoice ->> 'id', p_invoice ->> 'payment_intent', v_currency, v_amount, v_reason is null, v_reason, p_at,
          p_event_id,
          case when p_invoice ->> 'payment_intent' is null or v_reason is not null then clock_timestamp() end)
  returning * into v_payment;
  perform billing.enter(v_payment, 'taken', p_invoice ->> 'id', v_amount, p_event_id, p_at);
  if v_payment.counts then
    perform billing.note_paid_until(p_subscription, p_invoice, p_at);
    perform billing.tell(p_request_id, format('The subscription was renewed: %s.', billing.amount_words(v_currency, v_amount)));
  else
    perform billing.cancel_at_stripe(v_workspace_id, p_invoice ->> 'subscription');
    perform billing.tell(p_request_id, format('A renewal of %s was charged, and it goes back: %s.',
      billing.amount_words(v_currency, v_amount), billing.reason_words(v_reason)), true);
    perform billing.settle(v_payment.id);
  end if;
  return billing.outcome('done', p_request_id);
end
$$;
comment on function billing.take_renewal(text, billing.subscriptions, jsonb, text, timestamptz)
  is 'Records a renewal and returns the outcome. Nullable: p_subscription.';
