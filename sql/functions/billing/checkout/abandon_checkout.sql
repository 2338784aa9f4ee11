-- Ends a checkout that shall not be paid any more: Stripe is asked to close its page. In the lane of its request, so that it comes after
-- the call that made the page and before one that makes another. One that is being processed cannot be ended.
create or replace function billing.abandon_checkout(p_checkout billing.checkouts) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_checkout billing.checkouts := billing.take_answer(p_checkout);
begin
  -- None, where it was paid while the caller waited for its request.
  if coalesce(v_checkout.state, '') not in ('asked', 'open') then
    return;
  end if;
  v_checkout := billing.move_checkout(v_checkout, 'ABANDONED');
  perform billing.ask_stripe(
    v_checkout.workspace_id, 'billing', 'checkout:' || v_checkout.request_id, v_checkout.id::text, 'expire',
    jsonb_strip_nulls(jsonb_build_object('operation', 'checkout.expire', 'session_id', v_checkout.session_id)), 'ended:' || v_checkout.id,
    case when v_checkout.session_id is null
         then jsonb_build_array(jsonb_build_object('path', '["session_id"]'::jsonb, 'capture', 'id:' || v_checkout.id)) end);
end
$$;
comment on function billing.abandon_checkout(billing.checkouts) is 'Ends a checkout and has Stripe close its page.';
