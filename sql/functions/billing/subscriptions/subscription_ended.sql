-- A subscription has ended at Stripe: because we asked for it, because its term has ended, or because somebody ended it there. In the last
-- case people are told: the capacity keeps running until one of them decides otherwise. Its invoices are requested again, so that an
-- unreported charge from before the end is found soon.
create or replace function billing.subscription_ended(p_subscription billing.subscriptions, p_at timestamptz) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_over boolean := p_subscription.ends_at <= p_at;
begin
  update billing.subscriptions s
     set state = case when v_over then 'ended' else 'cancelled' end, grace_until = null, ended_at = p_at,
         told_by = greatest(s.told_by, p_at),
         next_look_at = case when s.ends_at > clock_timestamp() and s.end_told_at is null and s.cancel_asked_at is null then s.ends_at end,
         updated_at = clock_timestamp()
   where s.id = p_subscription.id;
  perform billing.look(p_subscription.workspace_id, 'invoices', p_subscription.stripe_id);
  if p_subscription.cancel_asked_at is null then
    perform billing.tell(p_subscription.request_id, 'The subscription was ended in Stripe, and nothing is charged any more. This does not '
      'stop the capacity: an operator decides what happens to it.', true);
  end if;
  return billing.outcome('done', p_subscription.request_id);
end
$$;
comment on function billing.subscription_ended(billing.subscriptions, timestamptz)
  is 'Records that a subscription has ended and returns the outcome.';
