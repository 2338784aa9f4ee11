-- Ends the subscription of a request that will have no capacity. Stripe is asked to stop charging.
create or replace function billing.cancel_subscription(p_request_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_subscription billing.subscriptions;
begin
  update billing.subscriptions s
     set cancel_asked_at = clock_timestamp(), state = case when s.kind = 'one_off' then 'cancelled' else s.state end,
         grace_until = null, next_look_at = case when s.kind = 'recurring' then clock_timestamp() + interval '10 minutes' end,
         updated_at = clock_timestamp()
   where s.request_id = p_request_id and s.cancel_asked_at is null and s.state not in ('ended', 'cancelled')
  returning s.* into v_subscription;
  if v_subscription.stripe_id is not null then
    perform billing.cancel_at_stripe(v_subscription.workspace_id, v_subscription.stripe_id);
  end if;
end
$$;
comment on function billing.cancel_subscription(text) is 'Ends the subscription of a request that will have no capacity.';
