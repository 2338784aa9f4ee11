-- A subscription that nobody has paid yet: its payment is being processed. If Stripe has given it up, the payment has failed.
create or replace function billing.unborn_subscription(p_stripe jsonb, p_at timestamptz) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_named text := p_stripe #>> '{metadata,headroom_checkout}';
  v_checkout billing.checkouts;
  v_request capacity.requests;
begin
  if billing.is_ours(p_stripe) and p_stripe ->> 'status' in ('incomplete_expired', 'canceled')
     and v_named ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    select c.* into v_checkout from billing.checkouts c where c.id = v_named::uuid;
  end if;
  if v_checkout.id is null then
    return billing.outcome('ignored');
  end if;
  v_request := billing.lock_request(v_checkout.request_id);
  select c.* into v_checkout from billing.checkouts c where c.id = v_checkout.id and c.state in ('processing', 'abandoned')
     and c.processing_since is not null;
  v_checkout := billing.move_checkout(v_checkout, 'FAILED', p_at);
  if v_checkout.id is null then
    return billing.outcome('known', v_request.id);
  end if;
  perform billing.tell_failed(v_request);
  return billing.outcome('done', v_request.id);
end
$$;
comment on function billing.unborn_subscription(jsonb, timestamptz)
  is 'Learns from a subscription that was never paid, and says what came of it.';
