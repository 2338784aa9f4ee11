-- Does what is due for a subscription because time has passed: the end of the grace period, the end of the term, and a daily question to
-- Stripe. If Stripe was asked to end it and has not, it is asked again.
create or replace function billing.look_at_subscription(p_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_subscription billing.subscriptions;
  v_looks boolean;
begin
  select s.* into strict v_subscription from billing.subscriptions s where s.id = p_id;
  if v_subscription.state = 'past_due' and v_subscription.grace_until <= now() then
    update billing.subscriptions s set state = 'unpaid', updated_at = clock_timestamp() where s.id = p_id;
    perform billing.tell(v_subscription.request_id, 'The subscription is unpaid, and the grace period has ended. This does not stop the '
      'capacity: an operator decides what happens to it.', true);
  end if;
  if v_subscription.ends_at <= now() and v_subscription.end_told_at is null and v_subscription.cancel_asked_at is null then
    update billing.subscriptions s
       set end_told_at = clock_timestamp(), state = case when s.kind = 'one_off' and s.state = 'active' then 'ended' else s.state end
     where s.id = p_id;
    perform billing.tell(v_subscription.request_id, 'The requested term has ended. '
      || case when v_subscription.kind = 'recurring' and v_subscription.state not in ('ended', 'cancelled')
              then format('The subscription is charged until it is ended: headroom payments end %s. ', v_subscription.request_id)
              else '' end
      || 'This does not stop the capacity: an operator decides what happens to it.', true);
  end if;
  v_looks := v_subscription.kind = 'recurring' and v_subscription.state not in ('ended', 'cancelled');
  if v_looks and v_subscription.stripe_id is not null then
    if v_subscription.cancel_asked_at is not null then
      perform billing.cancel_at_stripe(v_subscription.workspace_id, v_subscription.stripe_id);
    end if;
    perform billing.look(v_subscription.workspace_id, 'subscription', v_subscription.stripe_id);
  elsif v_looks then
    perform billing.look(v_subscription.workspace_id, 'session', p.session_id)
       from billing.payments p where p.id = v_subscription.payment_id and p.session_id is not null;
  end if;
  update billing.subscriptions s
     set next_look_at = case when v_looks then least(now() + interval '1 day', case when s.grace_until > now() then s.grace_until end,
                                                      case when s.end_told_at is null and s.ends_at > now() then s.ends_at end)
                             when s.ends_at > now() and s.end_told_at is null and s.cancel_asked_at is null then s.ends_at end
   where s.id = p_id;
end
$$;
comment on function billing.look_at_subscription(uuid) is 'Does what is due for a subscription because time has passed.';
