-- Applies Stripe's answer to a checkout. Settling only stores the answer, because settling waits for no row; the next caller that holds the
-- lock of the request applies it. If the page certainly was not made, the checkout has failed; if that is in doubt, Stripe is asked first
-- (look_at_checkout).
create or replace function billing.take_answer(p_checkout billing.checkouts) returns billing.checkouts
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_session_id text := coalesce(p_checkout.session_id,
                                (select s.session_id from billing.sessions s where s.checkout_id = p_checkout.id));
  v_checkout billing.checkouts := p_checkout;
begin
  if p_checkout.session_id is null and v_session_id is not null then
    update billing.checkouts c set session_id = v_session_id where c.id = p_checkout.id returning c.* into v_checkout;
  end if;
  if v_checkout.state = 'asked' and v_session_id is not null then
    v_checkout := billing.move_checkout(v_checkout, 'ANSWERED');
  elsif v_checkout.state = 'asked' and billing.has_no_page(v_checkout) then
    v_checkout := billing.move_checkout(v_checkout, 'GIVEN_UP');
  end if;
  return v_checkout;
end
$$;
comment on function billing.take_answer(billing.checkouts) is 'A checkout with Stripe''s answer applied.';
