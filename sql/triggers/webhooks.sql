-- Events are addressed at the end of the transaction that published them. A constraint trigger has no "or replace".
drop trigger if exists address_envelopes on webhooks.envelopes;
create constraint trigger address_envelopes after insert on webhooks.envelopes deferrable initially deferred
  for each row execute function webhooks.address_envelopes();
-- For each row, because a relay disables only one endpoint.
create or replace trigger endpoint_changed after insert or update of tenant_id, topics, enabled or delete on webhooks.endpoints
  for each row execute function webhooks.tell_endpoint_changed();
