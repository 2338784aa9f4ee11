-- Applies the state of a refund: one of ours, or one that somebody made in Stripe's dashboard, which is recorded like ours. It only moves
-- forward, by refund_states(). A refund that fails is money that came back to us, so it is opened again; one that was cancelled at Stripe
-- is not.
create or replace function billing.apply_refund(p_refund jsonb, p_event_id text, p_at timestamptz) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text := case p_refund ->> 'status' when 'succeeded' then 'succeeded' when 'failed' then 'failed'
                    when 'canceled' then 'cancelled' else 'pending' end;
  v_refund billing.refunds := billing.find_refund(p_refund);
  v_payment billing.payments;
  v_problem text;
  v_known boolean := false;
  v_asked boolean := false;
begin
  select p.* into v_payment from billing.payments p
   where p.id = v_refund.payment_id or v_refund.id is null and p.payment_intent = p_refund ->> 'payment_intent';
  if v_payment.id is null then
    return case when billing.is_ours(p_refund) then billing.record_finding('unknown_refund', p_refund ->> 'id', null,
             'Stripe reports a refund of ours that is not known here.', p_event_id)
             else billing.outcome('ignored') end;
  end if;
  perform billing.lock_request(v_payment.request_id);
  -- Read again, now that nobody else can change it.
  select p.* into strict v_payment from billing.payments p where p.id = v_payment.id;
  v_refund := billing.find_refund(p_refund);
  v_problem := billing.refund_problem(v_payment, v_refund, p_refund);
  if v_problem is null and v_refund.id is null and p_refund ->> 'status' not in ('failed', 'canceled')
     and (p_refund ->> 'amount')::bigint + (select coalesce(sum(r.amount), 0) from billing.refunds r
                                             where r.payment_id = v_payment.id and r.state in ('pending', 'succeeded')) > v_payment.amount
  then
    -- Stripe refunds no more than it took, so one that we believe to have succeeded failed or was cancelled, and its report is late.
    -- Checking all of the payment's refunds together shows this.
    if not starts_with(p_event_id, 'look:') then
      perform billing.look(v_payment.workspace_id, 'refunds', v_payment.payment_intent);
      return billing.outcome('known', v_payment.request_id);
    end if;
    v_problem := format('Stripe reports refunds of more than the payment of %s.',
                        billing.amount_words(v_payment.currency, v_payment.amount));
  end if;
  if v_problem is not null then
    return billing.record_finding('amount_mismatch', p_refund ->> 'id', v_payment.request_id, v_problem, p_event_id);
  end if;
  if v_refund.id is null then
    insert into billing.refunds (id, workspace_id, request_id, payment_id, origin, reason, currency, amount, state, stripe_id, asked_by)
    values (gen_random_uuid(), v_payment.workspace_id, v_payment.request_id, v_payment.id, 'outside', 'outside', v_payment.currency,
            (p_refund ->> 'amount')::bigint, 'pending', p_refund ->> 'id', 'stripe')
    returning * into v_refund;
  else
    v_known := v_refund.stripe_id is not null
      and (select n.rank <= o.rank from billing.refund_states() n, billing.refund_states() o
            where n.state = v_state and o.state = case when v_refund.state = 'superseded' and v_state in ('failed', 'cancelled')
                                                       then v_state else v_refund.state end);
  end if;
  if p_refund ->> 'status' = 'requires_action' and v_refund.customer_asked_at is null
     and v_refund.state not in ('succeeded', 'failed', 'cancelled') then
    -- Stripe has asked the customer by mail where to send the money. Only the customer can answer, so nothing is sent again.
    update billing.refunds r set customer_asked_at = clock_timestamp() where r.id = v_refund.id;
    perform billing.tell(v_payment.request_id, format('The refund of %s waits for the customer: Stripe has asked them by mail where the '
      'money is to go. An operator may remind them.', billing.amount_words(v_refund.currency, v_refund.amount)), true);
    v_asked := true;
  end if;
  if v_known then
    return billing.outcome(case when v_asked then 'done' else 'known' end, v_payment.request_id);
  end if;
  return billing.move_refund(v_payment, v_refund, v_state, p_refund, p_event_id, p_at);
end
$$;
comment on function billing.apply_refund(jsonb, text, timestamptz) is 'Applies the state of a refund at Stripe and returns the outcome.';
