-- What became of each row that is still kept: whether it waits or was given up, how often it was tried, when it was delivered, and whether
-- an operator skipped it.
create or replace view outbox.fates as
select m.outbox_id, p.outbox_id is not null as pending, x.outbox_id is not null as dead, a.tries, a.sent_at, a.skipped
  from outbox.payloads m
  left join outbox.pending p on p.lane_id = m.lane_id and p.seq = m.seq
  left join outbox.dead x on x.outbox_id = m.outbox_id
 cross join lateral (
       select count(*) filter (where l.state = 'DISPATCHING') - count(*) filter (where l.state = 'RELEASED') as tries,
              max(l.recorded_at) filter (where l.state in ('DISPATCHED', 'RESOLVED')) as sent_at,
              coalesce(bool_or(l.state = 'SKIPPED'), false) as skipped
         from outbox.attempts l where l.outbox_id = m.outbox_id and l.class_id = get_byte(uuid_send(m.outbox_id), 7)) a;
comment on view outbox.fates is 'What became of rows of ordered streams that are still kept.';
