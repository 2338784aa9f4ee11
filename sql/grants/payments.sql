-- Grants of the schema `payments`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('payments');

-- Ingest enqueues payments and publishes events, and reads the outcome of events, but not the content of others' events.
grant usage on schema payments to headroom_ingest, headroom_control, headroom_auditor;
grant execute on function payments.enqueue_payment_outbox(text, text, text, text, jsonb) to headroom_ingest;
grant insert, select (id, status, created_at, sent_at, retry_count, deliveries) on payments.outbox_transfers to headroom_ingest;
grant select on all tables in schema payments to headroom_control, headroom_auditor;
-- Auditors read everything except the allocators of numbers.
revoke select on payments.participant_outbox_sequences from headroom_auditor;
