-- Money that waits, by what it waits for (billing.waiting_states() describes each).
create or replace view billing.waiting as
select c.state, c.workspace_id, c.request_id, null::uuid as payment_id, c.session_id as stripe_id, c.currency, c.amount,
       coalesce(c.processing_since, c.created_at) as since
  from billing.checkouts c where c.state in ('asked', 'processing')
union all
select case r.state when 'held' then 'refund_held_' || r.held_by else 'refund_sent' end, r.workspace_id, r.request_id, r.payment_id,
       r.stripe_id, r.currency, r.amount, r.created_at
  from billing.refunds r where r.state in ('held', 'sent', 'pending')
union all
select 'refund_failed', r.workspace_id, r.request_id, r.payment_id, r.stripe_id, r.currency, r.amount, r.updated_at
  from billing.refunds r
 where r.state in ('failed', 'cancelled', 'superseded') and r.updated_at > now() - interval '7 days' and billing.is_unmade(r)
union all
select 'disputed', d.workspace_id, d.request_id, d.payment_id, d.stripe_id, d.currency, d.amount, d.opened_at
  from billing.disputes d where d.outcome = 'open'
union all
select 'past_due', s.workspace_id, s.request_id, s.payment_id, s.stripe_id, p.currency, p.amount, s.updated_at
  from billing.subscriptions s join billing.payments p on p.id = s.payment_id where s.state in ('past_due', 'unpaid')
union all
select 'finding', f.workspace_id, f.request_id, null, f.stripe_id, null, null, f.found_at
  from billing.findings f where f.resolved_at is null
union all
select 'unread', null, null, null, null, null, null, s.seen_at from billing.sightings s;
comment on view billing.waiting is 'Money that waits, by what it waits for.';
