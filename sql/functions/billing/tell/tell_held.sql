-- Says that a refund will not continue automatically: it failed on every try, one was cancelled at Stripe, or a dispute is open. Says
-- nothing about other refunds.
create or replace function billing.tell_held(p_payment billing.payments, p_refund billing.refunds) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_refund.held_by = 'person' then
    perform billing.tell(p_payment.request_id, format(case
        when exists (select from billing.refunds r where r.payment_id = p_payment.id and r.state = 'cancelled')
        then '%s has to be refunded, and is not sent again automatically, because a refund was cancelled in Stripe.'
        else 'The refund of %s has failed 3 times, and is not tried again automatically.' end
      || ' An operator sees to it%s', billing.amount_words(p_refund.currency, p_refund.amount),
        case when billing.is_disputed(p_payment.id) then ' once the dispute about it has ended.'
             else ': headroom payments refund ' || p_payment.id end),
      true);
  elsif p_refund.held_by = 'dispute' then
    perform billing.tell(p_payment.request_id, format('The refund of %s waits: the customer disputes the payment with their bank.',
      billing.amount_words(p_refund.currency, p_refund.amount)), true);
  end if;
end
$$;
comment on function billing.tell_held(billing.payments, billing.refunds) is 'Says what a refund waits for. Nullable: p_refund.';
