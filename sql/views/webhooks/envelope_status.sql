-- Events that applications published, and what became of them. PENDING: a delivery is still owed. FAILED: at least one was given up, or
-- skipped by an operator. SENT: nothing is owed any more, which holds at once for an event that nobody hears of; `deliveries` tells the
-- two apart. A delivery whose record has been collected was delivered: nothing else is collected.
create or replace view webhooks.envelope_status as
select e.id, e.stream_id, e.payload, s.status, e.created_at,
       case when s.status = 'SENT' then case when d.deliveries = 0 then e.created_at else d.sent_at end end as sent_at,
       coalesce(d.tries, 0)::integer as retry_count, case when e.outbox_ids is not null then d.deliveries::integer end as deliveries
  from webhooks.envelopes e
 cross join lateral (
       select count(*) as deliveries, count(*) filter (where f.pending) as pending, count(*) filter (where f.dead or f.skipped) as failed,
              max(f.sent_at) as sent_at, max(f.tries) as tries
         from unnest(e.outbox_ids) o(id) left join outbox.fates f on f.outbox_id = o.id) d
 cross join lateral (
       select case when d.failed > 0 then 'FAILED' when d.pending > 0 or e.outbox_ids is null then 'PENDING' else 'SENT' end as status) s;
comment on view webhooks.envelope_status is 'Published events of all event streams, and what became of them.';
