-- Applies the state of a payment at Stripe, which we asked for because no event said how its processing ended. A payment that succeeded is
-- believed only when its session says so; one that failed will not be paid any more.
create or replace function billing.apply_payment_intent(p_intent jsonb, p_event_id text, p_at timestamptz) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_checkout billing.checkouts := billing.checkout_named(p_intent);
  v_request capacity.requests;
begin
  if v_checkout.id is null then
    return billing.outcome('ignored');
  end if;
  v_request := billing.lock_request(v_checkout.request_id);
  select c.* into v_checkout from billing.checkouts c where c.id = v_checkout.id;
  if p_intent ->> 'status' = 'succeeded' and v_checkout.state <> 'paid' and v_checkout.session_id is not null then
    perform billing.look(v_checkout.workspace_id, 'session', v_checkout.session_id, v_checkout.looks + 1);
    update billing.checkouts c set looks = c.looks + 1 where c.id = v_checkout.id;
    return billing.outcome('done', v_request.id);
  elsif p_intent ->> 'status' in ('canceled', 'requires_payment_method') and v_checkout.processing_since is not null then
    v_checkout := billing.fail_checkout(v_request, v_checkout, null, p_at);
    return billing.outcome(case when v_checkout.id is null then 'known' else 'done' end, v_request.id);
  end if;
  return billing.outcome('known', v_request.id);
end
$$;
comment on function billing.apply_payment_intent(jsonb, text, timestamptz)
  is 'Applies the state of a payment at Stripe and returns the outcome.';
