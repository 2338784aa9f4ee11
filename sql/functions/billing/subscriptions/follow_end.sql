-- Hook of capacity.closed: a request has ended, in whatever way. Its page at Stripe is closed; and unless its capacity runs, everything
-- that was paid for it is refunded and its subscription is ended, in the same transaction.
create or replace function billing.follow_end(p_change jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request_id text := p_change ->> 'request_id';
  v_reason text := case p_change ->> 'state_after' when 'FAILED' then 'failed' else 'cancelled' end;
  v_checkout billing.checkouts := billing.open_checkout(v_request_id);
  v_payment billing.payments;
begin
  if v_checkout.id is not null then
    perform billing.abandon_checkout(v_checkout);
  end if;
  if p_change ->> 'state_after' = 'COMPLETED' then
    return null;
  elsif v_checkout.state = 'processing' then
    perform billing.tell(v_request_id, format('The customer''s payment of %s is still on its way. When it arrives, it goes back.',
      billing.amount_words(v_checkout.currency, v_checkout.amount)));
  end if;
  perform billing.cancel_subscription(v_request_id);
  for v_payment in select p.* from billing.payments p where p.request_id = v_request_id and p.counts order by p.recorded_at, p.id loop
    if billing.left_of(v_payment.id) > 0 then
      perform billing.tell(v_request_id, format('%s goes back to the customer: %s.',
        billing.amount_words(v_payment.currency, billing.left_of(v_payment.id)), billing.reason_words(v_reason)));
    end if;
    perform billing.owe(v_payment.id, v_reason);
  end loop;
  return null;
end
$$;
comment on function billing.follow_end(jsonb) is 'Closes the payment of a request that has ended. Nullable: result.';
