-- Applies an invoice. The first one of a subscription is paid by its Checkout session, and only adds ids to that payment; every later one
-- is a renewal, paid or failed. An invoice of a subscription that we ended, or never counted, is refunded, even the first.
create or replace function billing.apply_invoice(p_invoice jsonb, p_event_id text, p_at timestamptz, p_event_type text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_first boolean := p_invoice ->> 'billing_reason' = 'subscription_create';
  v_ended boolean := false;
  v_subscription billing.subscriptions;
  v_payment billing.payments;
  v_request_id text;
begin
  select s.* into v_subscription from billing.subscriptions s where s.stripe_id = p_invoice ->> 'subscription';
  select p.* into v_payment from billing.payments p where p.invoice_id = p_invoice ->> 'id' or v_first and p.id = v_subscription.payment_id;
  v_request_id := coalesce(v_payment.request_id, v_subscription.request_id);
  if v_request_id is null and billing.is_ours(p_invoice) then
    v_ended := v_first and billing.is_ended(billing.checkout_named(p_invoice));
    select r.id into v_request_id from capacity.requests r
     where r.id = p_invoice #>> '{metadata,headroom_request}' and (v_ended or not v_first);
  end if;
  if v_request_id is null then
    return billing.outcome('ignored');
  end if;
  perform billing.lock_request(v_request_id);
  -- Read again, now that nobody else can change it.
  select s.* into v_subscription from billing.subscriptions s where s.stripe_id = p_invoice ->> 'subscription';
  select p.* into v_payment from billing.payments p where p.invoice_id = p_invoice ->> 'id' or v_first and p.id = v_subscription.payment_id;
  if v_payment.id is not null then
    -- The first invoice says nothing about later months, however late it is read: without a time, only the end of the paid period is
    -- updated.
    if v_first and v_subscription.id is not null then
      perform billing.note_paid_until(v_subscription, p_invoice, null);
    end if;
    return billing.outcome(case when billing.note_ids(v_payment, p_invoice) then 'done' else 'known' end, v_request_id);
  elsif p_invoice ->> 'status' = 'paid' and (v_ended or not v_first) then
    -- Use the time when it was paid, not when we asked: later reports of later months still apply.
    return billing.take_renewal(v_request_id, v_subscription, p_invoice, p_event_id,
                                coalesce(to_timestamp((p_invoice ->> 'paid_at')::bigint), p_at));
  elsif p_event_type = 'invoice.payment_failed' and v_subscription.id is not null and not v_first then
    return billing.renewal_failed(v_subscription, p_at);
  end if;
  return billing.outcome('ignored', v_request_id);
end
$$;
comment on function billing.apply_invoice(jsonb, text, timestamptz, text)
  is 'Applies an invoice of Stripe''s and returns the outcome. Nullable: p_event_type.';
