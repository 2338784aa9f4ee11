-- Grants of the schema `ledger`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('ledger');

-- Ingest publishes events, and reads their outcome, but not the content of others' events.
grant usage on schema ledger to headroom_ingest, headroom_control, headroom_auditor;
grant insert, select (id, status, created_at, sent_at, retry_count, deliveries) on ledger.outbox_ledger to headroom_ingest;
grant select on all tables in schema ledger to headroom_control, headroom_auditor;
