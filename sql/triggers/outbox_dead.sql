-- Whoever gives a row up says whether it may have arrived; what follows from that is decided in one place.
create or replace trigger park_dead before insert on outbox.dead
  for each row when (new.parked) execute function outbox.park_dead();
