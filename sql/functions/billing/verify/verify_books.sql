-- The books are the fold of payments, refunds and disputes: each payment is entered once, each refund that succeeded is out, each one that
-- failed is back, and the same for disputes. No entry lacks a cause.
create or replace function billing.verify_books(p_payment_ids uuid[]) returns table (invariant text, code text, subject text, detail text)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  with expected as (
    select p.id as payment_id, coalesce(p.session_id, p.invoice_id) as source_id, p.amount, p.currency from billing.payments p
     where p.id = any (p_payment_ids)
    union all
    select r.payment_id, r.stripe_id, case r.state when 'succeeded' then -r.amount else 0 end, r.currency from billing.refunds r
     where r.payment_id = any (p_payment_ids) and r.stripe_id is not null
    union all
    select d.payment_id, d.stripe_id, case when x.withdrawn or d.outcome = 'lost' then -d.amount else 0 end, d.currency
      from billing.disputes d join billing.dispute_rules() x on x.status = d.status
     where d.payment_id = any (p_payment_ids)
  ), entered as (
    select e.payment_id, e.source_id, e.currency, sum(e.amount) as amount from billing.entries e
     where e.payment_id = any (p_payment_ids) group by e.payment_id, e.source_id, e.currency
  )
  select 'I8', 'books_differ', coalesce(x.payment_id, e.payment_id)::text,
         format('the books have %s %s for %s, and it is %s %s', coalesce(e.amount, 0), e.currency, coalesce(x.source_id, e.source_id),
                coalesce(x.amount, 0), x.currency)
    from expected x full join entered e on e.payment_id = x.payment_id and e.source_id = x.source_id
   where coalesce(x.amount, 0) <> coalesce(e.amount, 0) or x.currency <> e.currency or x.payment_id is null;
$$;
comment on function billing.verify_books(uuid[]) is 'Payments whose entries are not what they should be.';
