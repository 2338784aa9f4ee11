-- Events of transfers come in through the view of their stream.
create or replace trigger insert_envelope instead of insert on payments.outbox_transfers
  for each row execute function webhooks.insert_envelope('transfers');
