-- Events come in through the views of their streams, and are addressed at the end of the transaction that published them. A constraint
-- trigger has no "or replace".
create or replace trigger insert_envelope instead of insert on payments.outbox_transfers
  for each row execute function outbox.insert_envelope('transfers');
create or replace trigger insert_envelope instead of insert on ledger.outbox_ledger
  for each row execute function outbox.insert_envelope('ledger');

drop trigger if exists address_envelopes on outbox.envelopes;
create constraint trigger address_envelopes after insert on outbox.envelopes deferrable initially deferred
  for each row execute function outbox.address_envelopes();
