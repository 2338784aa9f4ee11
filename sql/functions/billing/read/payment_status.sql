-- The status of a payment in one word: paid, refunding, refunded, partly_refunded, refund_held, disputed or lost.
create or replace function billing.payment_status(p_payment billing.payments) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
    when billing.is_disputed(p_payment.id) then 'disputed'
    when exists (select from billing.refunds r where r.payment_id = p_payment.id and r.state = 'held') then 'refund_held'
    when exists (select from billing.refunds r where r.payment_id = p_payment.id and r.state in ('sent', 'pending')) then 'refunding'
    when billing.left_of(p_payment.id) = 0
      then case when exists (select from billing.disputes d where d.payment_id = p_payment.id and d.outcome = 'lost') then 'lost'
                else 'refunded' end
    when billing.left_of(p_payment.id) < p_payment.amount then 'partly_refunded'
    else 'paid' end;
$$;
comment on function billing.payment_status(billing.payments) is 'The status of a payment, in one word.';
