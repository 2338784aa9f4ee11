-- Events that applications published, and what became of them. PENDING: a delivery is still owed. FAILED: at least one was given up, or
-- skipped by an operator. SENT: nothing is owed any more, which holds at once for an event that nobody hears of; `deliveries` tells the
-- two apart. A delivery whose record has been collected was delivered: nothing else is collected.
create or replace view outbox.envelope_status as
select e.id, e.stream_id, e.payload, s.status, e.created_at,
       case when s.status = 'SENT' then case when d.deliveries = 0 then e.created_at else d.sent_at end end as sent_at,
       coalesce(d.tries, 0)::integer as retry_count, case when e.outbox_ids is not null then d.deliveries::integer end as deliveries
  from outbox.envelopes e
 cross join lateral (
       select count(*) as deliveries, count(p.outbox_id) as pending, count(*) filter (where x.outbox_id is not null or a.skipped) as failed,
              max(a.sent_at) as sent_at, max(a.tries) as tries
         from unnest(e.outbox_ids) o(id)
         left join outbox.payloads m on m.outbox_id = o.id
         left join outbox.pending p on p.lane_id = m.lane_id and p.seq = m.seq
         left join outbox.dead x on x.outbox_id = o.id
        cross join lateral (
              select count(*) filter (where l.state = 'DISPATCHING') - count(*) filter (where l.state = 'RELEASED') as tries,
                     max(l.recorded_at) filter (where l.state in ('DISPATCHED', 'RESOLVED')) as sent_at, bool_or(l.state = 'SKIPPED') as skipped
                from outbox.attempts l where l.outbox_id = o.id and l.class_id = get_byte(uuid_send(o.id), 7)) a) d
 cross join lateral (
       select case when d.failed > 0 then 'FAILED' when d.pending > 0 or e.outbox_ids is null then 'PENDING' else 'SENT' end as status) s;
comment on view outbox.envelope_status is 'Published events of all event streams, and what became of them.';
