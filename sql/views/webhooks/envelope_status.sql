-- Events that applications published, and their outcome. PENDING: a delivery is still owed. FAILED: at least one was given up, or skipped
-- by an operator. SENT: nothing is owed any more, which is immediately true for an event that no endpoint receives; `deliveries` shows
-- which. A delivery whose row has been collected was delivered: nothing else is collected.
create or replace view webhooks.envelope_status as
select e.id, e.stream_id, e.payload, s.status, e.created_at,
       case when s.status = 'SENT' then case when d.deliveries = 0 then e.created_at else d.sent_at end end as sent_at,
       coalesce(d.tries, 0)::integer as retry_count, case when e.outbox_ids is not null then d.deliveries::integer end as deliveries
  from webhooks.envelopes e
 cross join lateral (
       select count(*) as deliveries, count(*) filter (where o.pending) as pending, count(*) filter (where o.failed) as failed,
              max(o.sent_at) as sent_at, max(o.tries) as tries
         from unnest(e.outbox_ids) i(id) left join outbox.deliveries o on o.outbox_id = i.id) d
 cross join lateral (
       select case when d.failed > 0 then 'FAILED' when d.pending > 0 or e.outbox_ids is null then 'PENDING' else 'SENT' end as status) s;
comment on view webhooks.envelope_status is 'Published events of all event streams, and their outcome.';
