-- Ends a checkout that must not be paid any more: Stripe is asked to close its page. A checkout whose payment is being processed cannot be
-- ended.
create or replace function billing.abandon_checkout(p_checkout billing.checkouts) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_checkout billing.checkouts := billing.take_answer(p_checkout);
begin
  -- Nothing to end: it was paid while the caller waited for the request.
  if coalesce(v_checkout.state, '') not in ('asked', 'open') then
    return;
  end if;
  v_checkout := billing.move_checkout(v_checkout, 'ABANDONED');
  perform billing.close_page(v_checkout, 'expire');
end
$$;
comment on function billing.abandon_checkout(billing.checkouts) is 'Ends a checkout and has Stripe close its page.';
