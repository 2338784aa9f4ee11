-- The events of the stream `ledger`: insert an envelope (CloudEvents 1.0) as payload, in your own transaction, and read its outcome.
-- Owner's rights on purpose: applications see the outcome of events without seeing the engine's tables.
create or replace view ledger.outbox_ledger as
select e.id, e.payload, e.status, e.created_at, e.sent_at, e.retry_count, e.deliveries
  from webhooks.envelope_status e
 where e.stream_id = (select s.stream_id from outbox.stream_settings s where s.name = 'ledger');
comment on view ledger.outbox_ledger is 'Events of the ledger: insert envelopes here, and read whether they have been sent.';
