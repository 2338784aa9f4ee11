-- A subscription that was never paid: its first payment is being processed, and Stripe calls it active meanwhile. When it becomes late or
-- is given up, that payment has failed.
create or replace function billing.apply_unpaid_subscription(p_stripe jsonb, p_at timestamptz) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_checkout billing.checkouts := billing.checkout_named(p_stripe);
  v_request capacity.requests;
begin
  if v_checkout.id is null
     or coalesce(p_stripe ->> 'status' not in ('past_due', 'unpaid', 'incomplete_expired', 'canceled'), true) then
    return billing.outcome('ignored');
  end if;
  v_request := billing.lock_request(v_checkout.request_id);
  select c.* into v_checkout from billing.checkouts c where c.id = v_checkout.id and c.state in ('processing', 'abandoned')
     and c.processing_since is not null;
  v_checkout := billing.fail_checkout(v_request, v_checkout, p_stripe ->> 'id', p_at);
  return billing.outcome(case when v_checkout.id is null then 'known' else 'done' end, v_request.id);
end
$$;
comment on function billing.apply_unpaid_subscription(jsonb, timestamptz)
  is 'Applies the state of a subscription that was never paid and returns the outcome.';
