-- The archive of ordered streams, line by line, with the row of each line. The id of a line is made from its row and its number, so it
-- never changes. began_at is when the try of this line began; completed_at, when its outcome was known.
create or replace view outbox.lines as
select s.name as stream, md5(a.outbox_id::text || ':' || a.attempt_no)::uuid as line_id, a.outbox_id, m.instruction_id, l.key, m.seq,
       m.idempotency_key, r.name as rail, m.payload, a.attempt_no, a.state, coalesce(before.recorded_at, a.recorded_at) as began_at,
       case when a.state <> 'DISPATCHING' then a.recorded_at end as completed_at,
       a.rail_reference, a.rail_code, a.error_code, coalesce(w.message, a.error_message) as error_message,
       a.latency_ms, a.recorded_at
  from outbox.attempts a
  join outbox.streams s on s.stream_id = a.stream_id and s.class_id = a.class_id
  join outbox.payloads m on m.outbox_id = a.outbox_id
  join outbox.lanes l on l.lane_id = m.lane_id
  join outbox.rails r on r.rail_id = m.rail_id
  left join outbox.answers w on w.outbox_id = a.outbox_id and w.attempt_no = a.attempt_no
  left join outbox.attempts before
    on before.outbox_id = a.outbox_id and before.class_id = a.class_id and before.attempt_no = a.attempt_no - 1
      and before.state = 'DISPATCHING';
comment on view outbox.lines is 'What happened to rows of ordered streams, line by line.';
