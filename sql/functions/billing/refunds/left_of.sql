-- How much of a payment may still be refunded: what has not gone back, is not going back, and was not lost in a dispute. p_but leaves one
-- refund out, to see how much there is for it.
create or replace function billing.left_of(p_payment_id uuid, p_but uuid default null) returns bigint
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select greatest(p.amount
         - coalesce((select sum(r.amount) from billing.refunds r join billing.refund_states() s on s.state = r.state and s.holds
                      where r.payment_id = p.id and r.id is distinct from p_but), 0)
         - coalesce((select sum(d.amount) from billing.disputes d where d.payment_id = p.id and d.outcome = 'lost'), 0), 0)::bigint
    from billing.payments p where p.id = p_payment_id;
$$;
comment on function billing.left_of(uuid, uuid) is 'How much of a payment may still be refunded. Nullable: p_but.';
