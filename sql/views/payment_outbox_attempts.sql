-- Every line of every payment, under the names of the payment outbox. The id of a line is made from its row and its
-- number, so it is the same whenever it is asked for. claimed_at is when the try of this line began; completed_at, when
-- it came to something.
create or replace view payments.payment_outbox_attempts as
select md5(a.outbox_id::text || ':' || a.attempt_no)::uuid as attempt_id, a.outbox_id, m.instruction_id, l.key as participant_id,
       m.seq as sequence_id, m.idempotency_key, r.name as rail_type, m.payload, a.attempt_no, a.state,
       coalesce(before.recorded_at, a.recorded_at) as claimed_at,
       case when a.state <> 'DISPATCHING' then a.recorded_at end as completed_at,
       a.rail_reference, a.rail_code, a.error_code, a.error_message, a.latency_ms, a.recorded_at as created_at
  from outbox.attempts a
  join outbox.streams s on s.stream_id = a.stream_id and s.class_id = a.class_id and s.name = 'payments'
  join outbox.payloads m on m.outbox_id = a.outbox_id
  join outbox.lanes l on l.lane_id = m.lane_id
  join outbox.rails r on r.rail_id = m.rail_id
  left join outbox.attempts before
    on before.outbox_id = a.outbox_id and before.class_id = a.class_id and before.attempt_no = a.attempt_no - 1 and before.state = 'DISPATCHING';
comment on view payments.payment_outbox_attempts is 'What happened to payments, line by line.';
