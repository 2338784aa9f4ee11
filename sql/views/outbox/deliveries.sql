-- The outcome of each row of an ordered stream: whether it still waits, whether it was given up or skipped, when it was delivered, and
-- how many tries it took; in_doubt: it may have arrived, but nobody knows. A view and not a function, because a view reads with its owner's
-- rights: readers of views that are built on it need no rights on the engine's tables.
create or replace view outbox.deliveries as
select m.outbox_id, p.outbox_id is not null as pending, x.outbox_id is not null or coalesce(a.skipped, false) as failed, a.sent_at, a.tries,
       a.in_doubt
  from outbox.payloads m
  left join outbox.pending p on p.lane_id = m.lane_id and p.seq = m.seq
  left join outbox.dead x on x.outbox_id = m.outbox_id
 cross join lateral (
       select count(*) filter (where l.state = 'DISPATCHING') - count(*) filter (where l.state = 'RELEASED') as tries,
              max(l.recorded_at) filter (where l.state = 'DISPATCHED' or l.state = 'RESOLVED' and l.rail_code = 'delivered') as sent_at,
              bool_or(l.state = 'SKIPPED') as skipped,
              (array_agg(l.uncertain order by l.attempt_no desc))[1] as in_doubt
         from outbox.attempts l where l.outbox_id = m.outbox_id and l.class_id = get_byte(uuid_send(m.outbox_id), 7)) a;
comment on view outbox.deliveries is 'The outcome of rows of ordered streams.';
