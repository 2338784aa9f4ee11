-- The gate itself is what a relay locks.
comment on table outbox.gates
  is 'What relays found out about destinations. Written by whoever has locked the row, which is tried for and never waited for.';
