-- Whether a refund that Stripe tells of, and that is not known here, would make more of those that we know to have gone out than was paid.
create or replace function billing.refunds_too_much(p_payment billing.payments, p_known billing.refunds, p_refund jsonb) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select p_known.id is null and p_refund ->> 'status' not in ('failed', 'canceled')
     and (p_refund ->> 'amount')::bigint
         + coalesce((select sum(r.amount) from billing.refunds r
                      where r.payment_id = p_payment.id and r.state in ('pending', 'succeeded')), 0) > p_payment.amount;
$$;
comment on function billing.refunds_too_much(billing.payments, billing.refunds, jsonb)
  is 'Whether refunds would be more than the payment. Nullable: p_known.';
