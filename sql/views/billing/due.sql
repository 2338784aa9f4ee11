-- What the sweep checks next, and when.
create or replace view billing.due as
select 'checkout' as kind, c.id, c.request_id, c.next_look_at from billing.checkouts c
 where c.state in ('asked', 'open', 'processing', 'abandoned')
union all
select 'payment', p.id, p.request_id, p.next_look_at from billing.payments p where p.next_look_at is not null
union all
select 'refund', r.id, r.request_id, r.next_look_at from billing.refunds r where r.next_look_at is not null
union all
select 'subscription', s.id, s.request_id, s.next_look_at from billing.subscriptions s where s.next_look_at is not null;
comment on view billing.due is 'What the sweep checks next.';
