-- Rows of ordered streams that wait to be sent. A row in flight is left out, as if the claim had removed it; its last line shows it.
create or replace view outbox.waiting as
select s.name as stream, p.outbox_id, m.instruction_id, l.key, p.seq, m.idempotency_key, r.name as rail, m.payload, p.lines,
       case when h.head_seq = p.seq then h.due else p.due end as next_attempt_at, m.created_at
  from outbox.pending p
  join outbox.payloads m on m.outbox_id = p.outbox_id
  join outbox.streams s on s.stream_id = m.stream_id
  join outbox.rails r on r.rail_id = m.rail_id
  join outbox.lanes l on l.lane_id = p.lane_id
  left join outbox.heads h on h.lane_id = p.lane_id
 where h.claim_id is null
    or p.seq not between h.head_seq and h.claimed_to
    -- Redriven into the middle of a run that is in flight: not part of it.
    or h.rewind_to is not null and not exists (
         select from outbox.attempts a where a.outbox_id = p.outbox_id and a.attempt_no = p.lines + 1 and a.class_id = s.class_id);
comment on view outbox.waiting is 'Rows of ordered streams that wait to be sent, with the time of their next attempt.';
