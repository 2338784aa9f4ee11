-- Who reads is kept for a transaction (directory.reader), and is read from these three tables. If nothing is kept, a write costs only a
-- comparison.
create or replace trigger forget_reader after insert or update or delete or truncate on directory.members
  for each statement when (current_setting('headroom.reader_made_from', true) <> '') execute function directory.forget_reader();
create or replace trigger forget_reader after insert or update or delete or truncate on directory.group_members
  for each statement when (current_setting('headroom.reader_made_from', true) <> '') execute function directory.forget_reader();
create or replace trigger forget_reader after insert or update or delete or truncate on directory.api_keys
  for each statement when (current_setting('headroom.reader_made_from', true) <> '') execute function directory.forget_reader();
