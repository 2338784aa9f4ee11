-- What a supervisor of payments needs, under the same names as the metrics.
create or replace view payments.supervisor_outbox_status as
select s.pending as outbox_pending_depth, s.due as due_participants, s.in_flight as dispatching_count, s.stuck as stuck_dispatching_count,
       s.retrying as retrying_count, s.dead as dlq_depth, s.parked as parked_count, s.blocked_lanes as blocked_participants,
       s.oldest_pending_age_seconds
  from outbox.status() s where s.stream = 'payments';
comment on view payments.supervisor_outbox_status is 'Depth, age, flight and dead letters of the payment outbox.';
