-- A renewal was paid: recorded once, by its invoice. It counts while its subscription does, also when it is heard of only after that ended;
-- money for one that we have ended, or that never counted, goes back, and Stripe is asked once more to end it.
create or replace function billing.take_renewal(
  p_request_id text, p_subscription billing.subscriptions, p_invoice jsonb, p_event_id text, p_at timestamptz
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_amount bigint := billing.amount_in(p_invoice -> 'amount_paid');
  v_currency text := upper((p_invoice ->> 'currency') collate "C");
  v_workspace_id text := (select r.workspace_id from capacity.requests r where r.id = p_request_id);
  v_reason text := case when p_subscription.id is null then 'unmatched'
                        when p_subscription.cancel_asked_at is not null then 'cancelled'
                        when p_subscription.state in ('cancelled', 'ended')
                             and coalesce(billing.time_in(p_invoice -> 'created'), p_at) > p_subscription.told_by then 'cancelled' end;
  v_payment billing.payments;
begin
  if v_amount = 0 then
    return billing.outcome('ignored', p_request_id);
  elsif v_amount is null or billing.currency_digits(v_currency) is null then
    return billing.find_out('amount_mismatch', p_invoice ->> 'id', p_request_id, 'Stripe tells of a renewal without an amount.',
                            p_event_id);
  end if;
  insert into billing.payments (id, workspace_id, request_id, purpose, invoice_id, payment_intent, currency, amount, counts, refund_reason,
                                paid_at, event_id, next_look_at)
  values (gen_random_uuid(), v_workspace_id, p_request_id, case when v_reason = 'unmatched' then 'unmatched' else 'renewal' end,
          p_invoice ->> 'id', billing.id_in(p_invoice -> 'payment_intent'), v_currency, v_amount, v_reason is null, v_reason, p_at,
          p_event_id,
          case when billing.id_in(p_invoice -> 'payment_intent') is null or v_reason is not null then clock_timestamp() end)
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
  is 'Records a renewal, and says what came of it. Nullable: p_subscription.';
