-- A repeated enqueue is the same only if it goes to the same place, by the same rail, at the same time. Null: of a row of our own
-- functions, or from before this column; what the row itself still says then decides.
alter table outbox.dedupe add column terms bigint;
comment on column outbox.dedupe.terms
  is 'Hash, with the salt, of where, when and how an application wanted the row sent: kept longer than the row, to tell a repeat from '
     'another intent.';

-- They take what is compared.
drop function if exists outbox.existing_row(smallint, text, text, text);
drop function if exists outbox.why_not_enqueued(boolean, text, text, text, text, text, text, boolean, integer, text, text, jsonb, jsonb);
