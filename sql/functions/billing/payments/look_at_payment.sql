-- Does what is due for a payment because time has passed: asks for its id at Stripe, asks once a day about an open dispute, and refunds
-- what has to be refunded.
create or replace function billing.look_at_payment(p_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_payment billing.payments;
begin
  select p.* into strict v_payment from billing.payments p where p.id = p_id;
  if v_payment.payment_intent is null then
    perform billing.look(v_payment.workspace_id, case when v_payment.invoice_id is null then 'session' else 'invoice' end,
                         coalesce(v_payment.invoice_id, v_payment.session_id), v_payment.looks + 1);
    if v_payment.looks = 10 then
      perform billing.tell(v_payment.request_id, format('Stripe does not say how the payment of %s was made, so it could not be '
        'refunded by us. An operator has to check it in Stripe.', billing.amount_words(v_payment.currency, v_payment.amount)),
        v_payment.refund_reason is not null);
    end if;
  end if;
  perform billing.look(d.workspace_id, 'dispute', d.stripe_id, (extract(epoch from now()) / 86400)::integer)
     from billing.disputes d where d.payment_id = p_id and d.outcome = 'open';
  update billing.payments p
     set looks = least(p.looks + 1, 32000), next_look_at = case when p.payment_intent is null then
           now() + least(interval '1 minute' * 2 ^ least(p.looks, 10), interval '1 day')
           when billing.is_disputed(p.id) then now() + interval '1 day' end
   where p.id = p_id;
  perform billing.settle(p_id);
end
$$;
comment on function billing.look_at_payment(uuid) is 'Does what is due for a payment because time has passed.';
