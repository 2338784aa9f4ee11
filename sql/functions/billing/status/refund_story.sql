-- The refunds of a payment, for its customer: due, under_way, asked (Stripe has asked them where to send it), done or failed. A held refund
-- is due. If a payment has to be refunded and has no refund yet, what is left of it is due: the customer already has what a bank took back
-- in a dispute.
create or replace function billing.refund_story(p_payment billing.payments) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select jsonb_agg(jsonb_build_object(
              'state', case when r.state = 'held' then 'due' when r.state = 'succeeded' then 'done'
                            when r.state in ('failed', 'superseded') then 'failed'
                            when r.state = 'pending' and r.customer_asked_at is not null then 'asked' else 'under_way' end,
              'amount', r.amount, 'at', r.updated_at) order by r.created_at, r.id)
       from billing.refunds r
      where r.payment_id = p_payment.id
        -- During a dispute the bank decides about the money.
        and not (r.state = 'held' and billing.is_disputed(p_payment.id))
        -- A refund that was not made is shown as long as no other took its place; a cancelled one is not going back.
        and r.state <> 'cancelled' and (r.state not in ('failed', 'superseded') or billing.is_unmade(r))),
    (select jsonb_build_array(jsonb_build_object('state', 'due', 'amount', x.amount, 'at', p_payment.recorded_at))
       from (select billing.left_of(p_payment.id) as amount) x
      where p_payment.refund_reason is not null and x.amount > 0 and not billing.is_disputed(p_payment.id)),
    '[]');
$$;
comment on function billing.refund_story(billing.payments) is 'The refunds of a payment, as its customer may see them.';
