-- An event is told from others when the transaction that publishes it commits, where all of its events are taken in one order
-- (webhooks.address_envelopes). Until then nobody waits for it: two that published the same events in opposite order deadlocked.
alter table webhooks.envelopes drop constraint envelopes_pkey, drop constraint envelopes_stream_id_instruction_id_key;
alter table webhooks.envelopes add primary key (ord);
create index envelopes_by_id on webhooks.envelopes (id);
create unique index envelopes_ids on webhooks.envelopes (id) where outbox_ids is not null;
create unique index envelopes_events on webhooks.envelopes (stream_id, instruction_id) where outbox_ids is not null;
drop index webhooks.envelopes_not_addressed;
create index envelopes_not_addressed on webhooks.envelopes (stream_id, instruction_id) where outbox_ids is null;
