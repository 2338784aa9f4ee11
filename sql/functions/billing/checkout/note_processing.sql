-- The customer has completed Checkout and the money is on its way, which may take days. Until then nobody pays again: another open page is
-- ended. If two payments are under way at the same time, the second to arrive is refunded.
create or replace function billing.note_processing(p_request capacity.requests, p_checkout billing.checkouts, p_at timestamptz)
returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_other billing.checkouts := billing.open_checkout(p_request.id);
  v_known boolean := p_checkout.processing_since is not null or p_checkout.state in ('paid', 'failed', 'expired');
begin
  if v_known then
    return billing.outcome('known', p_request.id);
  end if;
  if v_other.id <> p_checkout.id then
    perform billing.abandon_checkout(v_other);
  end if;
  if v_other.state = 'processing' then
    update billing.checkouts c set processing_since = p_at where c.id = p_checkout.id;
  else
    perform billing.move_checkout(p_checkout, 'PROCESSING', p_at);
  end if;
  if p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    perform billing.tell(p_request.id, format('Payment processing: the customer paid %s by a method that takes a while. Provisioning '
      'begins when the money has arrived.', billing.amount_words(p_checkout.currency, p_checkout.amount)));
  end if;
  return billing.outcome('done', p_request.id);
end
$$;
comment on function billing.note_processing(capacity.requests, billing.checkouts, timestamptz)
  is 'Records that a payment is on its way and returns the outcome.';
