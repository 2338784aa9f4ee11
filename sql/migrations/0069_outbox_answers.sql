-- What was said about a try that failed stands beside the payload and is erased with it: receivers like to repeat what they were sent, and
-- lines of the archive are never changed.
create table outbox.answers (
  outbox_id uuid not null,
  attempt_no integer not null,
  message text not null check (length(message) <= 2000),
  primary key (outbox_id, attempt_no)
);
comment on table outbox.answers
  is 'What a rail or a receiver said about a try that was not delivered, by the line of the archive that tells of it. '
     'Erased and collected with the payload.';
comment on column outbox.attempts.error_message
  is 'Our own words about a row that was given up; in lines from before outbox.answers also what the receiver said.';
