-- No more is refunded than was paid. Each refund of ours is one instruction with one row, of the same amount. What has to be refunded has
-- been, or is on its way, or waits for something that is named. A refund of an operator's that the bank returned was opened again. What was
-- bought and runs is not refunded automatically.
--
-- A refund that we sent while somebody refunded in the dashboard is not counted until Stripe confirms it, because Stripe refuses more than
-- was paid. And what is left of a payment waits for the refund that is under way.
create or replace function billing.verify_refunds(p_payment_ids uuid[]) returns table (invariant text, code text, subject text, detail text)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'I8', 'refunds_exceed', p.id::text, format('%s of %s went back', sum(r.amount), p.amount)
    from billing.payments p
    join billing.refunds r on r.payment_id = p.id
     and (r.state in ('pending', 'succeeded')
          or r.state = 'sent' and not exists (select from billing.refunds o where o.payment_id = p.id and o.origin = 'outside'
                                                 and o.state in ('pending', 'succeeded')))
   where p.id = any (p_payment_ids) group by p.id having sum(r.amount) > p.amount
  union all
  select 'I8', 'refund_row_differs', r.id::text,
         case when count(o.outbox_id) = 1 then 'its row asks for another amount or payment'
              else format('it has %s rows', count(o.outbox_id)) end
    from billing.refunds r
    join billing.payments p on p.id = r.payment_id
    left join outbox.rows o on o.instruction_id = r.id::text
         -- Refunds of earlier versions are in payments, where others may have used the same instruction.
         and (o.stream_id = (select outbox.stream_id('refunds'))
              or o.stream_id = (select outbox.stream_id('payments')) and o.outbox_id = r.outbox_id)
   where r.payment_id = any (p_payment_ids) and r.origin = 'ours' and r.state in ('sent', 'pending', 'succeeded', 'failed', 'cancelled')
   group by r.id, r.amount, p.payment_intent
  having count(o.outbox_id) <> 1
      or bool_or(o.payload is not null
                 and (o.payload ->> 'amount', o.payload ->> 'destination') is distinct from (r.amount::text, p.payment_intent))
  union all
  select 'I8', 'refund_missing', p.request_id,
         format('%s %s of payment %s has to be refunded, and no refund is under way', billing.left_of(p.id), p.currency, p.id)
    from billing.payments p join capacity.requests q on q.id = p.request_id
   where p.id = any (p_payment_ids)
     and (not p.counts or p.refund_reason is not null or q.state in ('REJECTED', 'CANCELLED', 'EXPIRED', 'FAILED'))
     and billing.left_of(p.id) > 0
     and not exists (select from billing.refunds r where r.payment_id = p.id and r.origin = 'ours'
                        and r.state in ('held', 'sent', 'pending'))
  union all
  select 'I8', 'refund_forgotten', p.request_id, format('%s %s of payment %s came back to us, and no refund has replaced it', r.amount,
                                                        r.currency, p.id)
    from billing.refunds r join billing.payments p on p.id = r.payment_id and p.refund_reason is null
   where r.payment_id = any (p_payment_ids) and r.origin = 'ours' and r.state = 'failed' and billing.left_of(p.id) > 0
     and not exists (select from billing.refunds n where n.payment_id = p.id and n.id <> r.id and n.created_at >= r.updated_at)
  union all
  select 'I8', 'refund_unwarranted', p.request_id, format('payment %s goes back (%s), and what it bought runs', p.id, p.refund_reason)
    from billing.payments p join capacity.requests q on q.id = p.request_id and q.state = 'COMPLETED'
   where p.id = any (p_payment_ids) and p.counts and p.purpose <> 'renewal' and p.refund_reason is not null;
$$;
comment on function billing.verify_refunds(uuid[]) is 'Refunds that do not fit their payments, and those that are missing.';
