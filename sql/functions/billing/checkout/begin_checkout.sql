-- Lets the customer pay: on the page that is already open, or on a new one. The caller has locked the request and knows that its offer is
-- open. There is one page at a time: the old page is ended before another is made. So is a page that was made for another address, which it
-- shows and whose cards it may offer, or for an unknown address. If a payment is already being processed, its checkout is returned, so that
-- nobody pays twice.
create or replace function billing.begin_checkout(p_request capacity.requests, p_entrance text) returns billing.checkouts
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_max constant integer := 100;
  v_checkout billing.checkouts := billing.open_checkout(p_request.id);
  v_other text;
begin
  if v_checkout.id is not null then
    v_checkout := billing.take_answer(v_checkout);
    if v_checkout.state = 'failed' then
      perform billing.tell_no_page(v_checkout);
    end if;
  end if;
  if v_checkout.state = 'processing' then
    return v_checkout;
  elsif billing.holds_money(p_request.id) then
    perform headroom.fail('conflict', 'You have paid, but what Stripe reports is not what was asked for.', 'payment_held',
                          'We are checking it. Please do not pay again in the meantime.');
  elsif billing.is_withdrawn(p_request.offer) then
    perform headroom.fail('gone', 'The price of this offer was withdrawn.', 'price_withdrawn',
                          'Ask the person who sent you the link for a new offer. Nothing was charged.');
  end if;
  select j.request_id into v_other from provisioning.jobs j
   where j.workspace_id = p_request.workspace_id and j.customer_key = capacity.customer_key_of(p_request.id)
     and j.request_id <> p_request.id and not j.adopted and j.state in ('waiting', 'queued', 'provisioning')
   order by j.created_at limit 1;
  if v_other is not null then
    perform headroom.fail('conflict', format('Another request of yours, %s, is being provided at this moment.', v_other), v_other,
                          'Pay for this one when that has ended. Nothing was charged.');
  end if;
  if v_checkout.state in ('asked', 'open') then
    if v_checkout.expires_at > clock_timestamp() + interval '2 minutes' and v_checkout.amount = (p_request.offer ->> 'amount')::bigint
       and v_checkout.currency = p_request.offer ->> 'currency'
       and v_checkout.address_mark is not distinct from billing.address_mark(p_request)
       and (v_checkout.state = 'asked' or billing.page_of(v_checkout) is not null) then
      return v_checkout;
    end if;
    perform billing.abandon_checkout(v_checkout);
  end if;
  if (select count(*) from billing.checkouts c where c.request_id = p_request.id) >= v_max then
    perform headroom.fail('conflict', 'The payment of this offer was started too many times.', p_request.id,
                          'Ask the person who sent you the link. Nothing was charged.');
  end if;
  return billing.new_checkout(p_request, p_entrance);
end
$$;
comment on function billing.begin_checkout(capacity.requests, text) is 'The checkout by which a request is paid now.';
