-- A Checkout session was paid. Its payment is recorded once, however often it is reported; whether it counts depends on the state of the
-- request at this moment. An amount that differs from what was asked for, or that cannot be read here, moves no money: until a person has
-- checked it, nobody pays again. After that every comparison may report it again, and it ends no page that was made since.
create or replace function billing.take_session(
  p_request capacity.requests, p_checkout billing.checkouts, p_session jsonb, p_event_id text, p_at timestamptz
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_amount bigint := (p_session ->> 'amount')::bigint;
  v_currency text := p_session ->> 'currency';
  v_waiting boolean := p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED';
  v_matches boolean;
  v_payment billing.payments;
  v_answer jsonb;
begin
  select p.* into v_payment from billing.payments p
   where p.session_id = p_session ->> 'id' or p.invoice_id = p_session ->> 'invoice';
  if v_payment.id is not null then
    perform billing.note_ids(v_payment, p_session);
    perform billing.note_subscription(v_payment, p_session ->> 'subscription');
    return billing.outcome('known', p_request.id);
  end if;
  v_matches := coalesce(case when p_checkout.id is not null then (v_amount, v_currency) = (p_checkout.amount, p_checkout.currency)
                             else (v_amount, v_currency) = ((p_request.offer ->> 'amount')::bigint, p_request.offer ->> 'currency') end,
                        false);
  if not v_matches and (p_checkout.id is not null or v_waiting and p_request.offer is not null)
     or coalesce(v_amount, 0) = 0 or billing.currency_digits(v_currency) is null then
    if p_checkout.id is not null then
      perform billing.move_checkout(p_checkout, 'MISMATCHED', p_at);
    end if;
    v_answer := billing.record_finding('amount_mismatch', p_session ->> 'id', p_request.id,
      format('Stripe took %s, but %s was asked for.',
             coalesce(billing.amount_words(v_currency, v_amount), 'no amount that can be read'),
             coalesce(billing.amount_words(p_request.offer ->> 'currency', (p_request.offer ->> 'amount')::bigint), 'nothing')),
      p_event_id);
    if billing.holds_money(p_request.id) then
      perform billing.abandon_checkout(billing.open_checkout(p_request.id));
    end if;
    return v_answer;
  end if;
  if p_checkout.id is not null then
    perform billing.move_checkout(p_checkout, 'PAID', p_at);
  end if;
  insert into billing.payments (id, workspace_id, request_id, checkout_id, purpose, session_id, invoice_id, payment_intent, currency,
                                amount, counts, refund_reason, paid_at, event_id, next_look_at)
  select gen_random_uuid(), p_request.workspace_id, p_request.id, p_checkout.id,
         case when p_checkout.id is null then 'unmatched' else 'confirmation' end, p_session ->> 'id',
         p_session ->> 'invoice', p_session ->> 'payment_intent', v_currency, v_amount, j.reason is null,
         j.reason, p_at, p_event_id,
         case when p_session ->> 'payment_intent' is null or j.reason is not null then clock_timestamp() end
    from (select billing.judge_payment(
            p_request.state::text,
            exists (select from capacity.events e where e.request_id = p_request.id and e.event_type = 'CUSTOMER_DECLINED'),
            exists (select from billing.payments o where o.request_id = p_request.id and o.counts and o.purpose <> 'renewal'),
            billing.is_withdrawn(p_request.offer),
            least(p_at, p_checkout.processing_since) <= p_request.next_deadline_at,
            v_matches and not billing.is_ended(p_checkout)) as reason) j
  returning * into v_payment;
  perform billing.enter(v_payment, 'taken', p_session ->> 'id', v_payment.amount, p_event_id, p_at);
  perform billing.note_customer(p_request, p_checkout.address_mark, p_session ->> 'customer');
  if v_payment.counts then
    perform billing.confirm(p_request, v_payment, p_session ->> 'subscription');
  else
    perform billing.return_payment(p_request, v_payment, p_session ->> 'subscription');
  end if;
  return billing.outcome('done', p_request.id);
end
$$;
comment on function billing.take_session(capacity.requests, billing.checkouts, jsonb, text, timestamptz)
  is 'Records the payment of a Checkout session and returns the outcome. Nullable: p_checkout.';
