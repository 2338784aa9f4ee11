-- Payments as the API shows them: the caller's own rights decide which rows there are.
create or replace view public.payments with (security_invoker = true) as
select p.id, p.request_id, p.workspace_id, p.purpose, p.currency, p.amount, p.counts, p.refund_reason, p.paid_at,
       coalesce((select sum(r.amount) from billing.refunds r where r.payment_id = p.id and r.state = 'succeeded'), 0)::bigint as refunded,
       coalesce((select sum(r.amount) from billing.refunds r
                  where r.payment_id = p.id and r.state in ('held', 'sent', 'pending')), 0)::bigint as refunding,
       (select d.outcome from billing.disputes d where d.payment_id = p.id order by d.opened_at desc limit 1) as dispute,
       p.payment_intent, p.recorded_at
  from billing.payments p
 where (select directory.reader_key_valid());
comment on view public.payments is 'Payments, and how much of each was returned.';
