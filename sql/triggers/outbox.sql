-- Pending rows are finished one by one; nobody may truncate them, not even the owner.
create or replace trigger refuse_truncate before truncate on outbox.pending
  for each statement execute function outbox.refuse_change();
create or replace trigger refuse_truncate before truncate on outbox.pending_unordered
  for each statement execute function outbox.refuse_change();

-- The archive's partitions bring their own triggers.
select outbox.ensure_partitions(30);
-- A row that is given up records whether it may have arrived; what follows from that is decided in one place.
create or replace trigger park_dead before insert on outbox.dead
  for each row when (new.parked) execute function outbox.park_dead();
