-- What goes back of a payment, for its customer: due, under_way, done or failed. One that waits for somebody is due; of a payment that goes
-- back and has no refund yet, what is left of it is: what a bank took back in a dispute the customer has already.
create or replace function billing.refund_story(p_payment billing.payments) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select jsonb_agg(jsonb_build_object(
              'state', case r.state when 'held' then 'due' when 'succeeded' then 'done' when 'failed' then 'failed' else 'under_way' end,
              'amount', r.amount, 'at', r.updated_at) order by r.created_at, r.id)
       from billing.refunds r
      where r.payment_id = p_payment.id and r.state <> 'superseded'
        -- During a dispute the bank decides about the money.
        and not (r.state = 'held' and billing.is_disputed(p_payment.id))
        -- One that failed is told as long as no other took its place.
        and not (r.state = 'failed' and exists (select from billing.refunds o
                                                 where o.payment_id = r.payment_id and o.created_at > r.created_at
                                                   and o.state not in ('failed', 'superseded')))),
    (select jsonb_build_array(jsonb_build_object('state', 'due', 'amount', x.amount, 'at', p_payment.recorded_at))
       from (select billing.left_of(p_payment.id) as amount) x
      where p_payment.refund_reason is not null and x.amount > 0 and not billing.is_disputed(p_payment.id)),
    '[]');
$$;
comment on function billing.refund_story(billing.payments) is 'What goes back of a payment, as its customer may know it.';
