-- Events of the ledger come in through the view of their stream.
create or replace trigger insert_envelope instead of insert on ledger.outbox_ledger
  for each row execute function webhooks.insert_envelope('ledger');
