-- A checkout as the customer's pages see it. It is shown as open as soon as Stripe has answered, even before take_answer() has applied the
-- answer. The address to pay at is given only while the checkout can be paid.
create or replace function billing.checkout_json(p_checkout billing.checkouts) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
           'checkout_id', p_checkout.id, 'request_id', p_checkout.request_id, 'state', x.state, 'entrance', p_checkout.entrance,
           'url', case x.state when 'open' then billing.page_of(p_checkout) end,
           'currency', p_checkout.currency, 'amount', p_checkout.amount, 'mode', p_checkout.mode, 'expires_at', p_checkout.expires_at,
           'processing_since', p_checkout.processing_since)
    from (select) one
    left join billing.sessions s on s.checkout_id = p_checkout.id
   cross join lateral (select case
           when p_checkout.state = 'asked' and s.session_id is not null then 'open'
           when p_checkout.state = 'asked' and billing.has_no_page(p_checkout) then 'failed'
           else p_checkout.state end as state) x;
$$;
comment on function billing.checkout_json(billing.checkouts) is 'A checkout as the customer sees it.';
