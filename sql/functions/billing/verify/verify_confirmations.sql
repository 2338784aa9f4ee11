-- A payment that counts has confirmed its request and bought one subscription, and no other payment has.
create or replace function billing.verify_confirmations(p_payment_ids uuid[])
returns table (invariant text, code text, subject text, detail text)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'I8', 'payment_unused', p.request_id, format('payment %s counts, and %s', p.id, x.what)
    from billing.payments p
   cross join lateral (
     select 'did not confirm the request' as what
      where not exists (select from capacity.events e where e.request_id = p.request_id and e.event_type = 'CUSTOMER_CONFIRMED'
                           and e.payload ->> 'payment_id' = p.id::text)
     union all
     select 'has no subscription' where not exists (select from billing.subscriptions s where s.payment_id = p.id)
     union all
     select 'so does another'
      where exists (select from billing.payments o where o.request_id = p.request_id and o.counts and o.purpose <> 'renewal'
                       and o.id <> p.id)
     union all
     select 'is not of the amount that was offered'
      where exists (select from capacity.requests r where r.id = p.request_id
                       and (r.offer ->> 'amount', r.offer ->> 'currency') is distinct from (p.amount::text, p.currency))) x
   where p.id = any (p_payment_ids) and p.counts and p.purpose <> 'renewal';
$$;
comment on function billing.verify_confirmations(uuid[]) is 'Payments that count without having confirmed their request.';
