-- Stripe cannot send a refund before the customer has said where to, and has asked them by mail: people are told, once. Nobody here can
-- answer for the customer, so nothing is sent again.
create or replace function billing.note_customer_asked(p_payment billing.payments, p_refund billing.refunds) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update billing.refunds r set customer_asked_at = clock_timestamp() where r.id = p_refund.id;
  perform billing.tell(p_payment.request_id, format('The refund of %s waits for the customer: Stripe has asked them by mail where the '
    'money is to go. An operator may remind them.', billing.amount_words(p_refund.currency, p_refund.amount)), true);
end
$$;
comment on function billing.note_customer_asked(billing.payments, billing.refunds) is 'Notes that a refund needs the customer, and tells.';
