-- Applies the state of a subscription at Stripe: late, paid again, to be ended, or ended. Ended is final. A report older than the newest
-- one changes nothing. A subscription that never became active is a payment that failed.
create or replace function billing.apply_subscription(p_stripe jsonb, p_event_id text, p_at timestamptz) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_cancels timestamptz := to_timestamp((p_stripe ->> 'cancel_at')::bigint);
  v_subscription billing.subscriptions;
begin
  select s.* into v_subscription from billing.subscriptions s where s.stripe_id = p_stripe ->> 'id';
  if v_subscription.id is null then
    return billing.apply_unpaid_subscription(p_stripe, p_at);
  end if;
  perform billing.lock_request(v_subscription.request_id);
  select s.* into v_subscription from billing.subscriptions s where s.stripe_id = p_stripe ->> 'id';
  if v_subscription.state in ('ended', 'cancelled') then
    return billing.outcome('known', v_subscription.request_id);
  elsif p_stripe ->> 'status' in ('canceled', 'incomplete_expired') then
    return billing.subscription_ended(v_subscription, coalesce(to_timestamp((p_stripe ->> 'ended_at')::bigint), p_at));
  elsif p_at < coalesce(v_subscription.told_by, '-infinity') then
    return billing.outcome('known', v_subscription.request_id);
  end if;
  -- Stripe's period has moved on, and no payment of it was reported: it may have been paid late, and its event lost.
  if starts_with(p_event_id, 'look:')
     and to_timestamp((p_stripe ->> 'period_end')::bigint) > v_subscription.paid_until + interval '1 day' then
    perform billing.look(v_subscription.workspace_id, 'invoices', v_subscription.stripe_id);
  end if;
  if p_stripe ->> 'status' in ('past_due', 'unpaid') and v_subscription.state = 'active' then
    return billing.renewal_failed(v_subscription, p_at);
  end if;
  update billing.subscriptions s
     set state = case when p_stripe ->> 'status' = 'active' and s.state in ('past_due', 'unpaid') then 'active' else s.state end,
         grace_until = case when p_stripe ->> 'status' = 'active' then null else s.grace_until end,
         cancels_at = v_cancels, told_by = greatest(s.told_by, p_at), updated_at = clock_timestamp()
   where s.id = v_subscription.id;
  if v_cancels is distinct from v_subscription.cancels_at and v_subscription.cancel_asked_at is null then
    perform billing.tell(v_subscription.request_id, coalesce(
      'In Stripe the subscription was set to end on ' || to_char(v_cancels at time zone 'UTC', 'YYYY-MM-DD')
        || '. This does not stop the capacity: an operator decides what happens to it.',
      'In Stripe the subscription was set to continue.'), v_cancels is not null);
  end if;
  return billing.outcome('done', v_subscription.request_id);
end
$$;
comment on function billing.apply_subscription(jsonb, text, timestamptz)
  is 'Applies the state of a subscription at Stripe and returns the outcome.';
