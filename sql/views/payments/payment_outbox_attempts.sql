-- Every line of every payment, under the names of the payment outbox.
create or replace view payments.payment_outbox_attempts as
select a.line_id as attempt_id, a.outbox_id, a.instruction_id, a.key as participant_id, a.seq as sequence_id, a.idempotency_key,
       a.rail as rail_type, a.payload, a.attempt_no, a.state, a.began_at as claimed_at, a.completed_at,
       a.rail_reference, a.rail_code, a.error_code, a.error_message, a.latency_ms, a.recorded_at as created_at
  from outbox.lines a where a.stream = 'payments';
comment on view payments.payment_outbox_attempts is 'What happened to payments, line by line.';
