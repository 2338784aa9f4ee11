-- Payments that wait to be sent. Owner's rights on purpose: readers see participants without seeing the allocator.
create or replace view payments.payment_outbox_pending as
select w.outbox_id, w.instruction_id, w.key as participant_id, w.seq as sequence_id, w.idempotency_key, w.rail as rail_type, w.payload,
       w.lines as attempt_count, w.next_attempt_at, w.created_at
  from outbox.waiting w where w.stream = 'payments';
comment on view payments.payment_outbox_pending is 'Payments that wait to be sent, with their numbers and the time of their next attempt.';
