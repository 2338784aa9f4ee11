-- Written by registrations alone: whoever could write here could have any secret handed to relays.
alter table outbox.rails add column credentials text[] not null default '{}',
  add constraint rails_credentials_guarded check (guarded or credentials = '{}');
comment on column outbox.rails.credentials is 'The stored secrets that relays are given for this rail.';

-- A relay on demand is there for seconds at a time. What it leaves says that somebody delivers, and when that was.
alter table outbox.relays add column on_demand boolean not null default false, add column ended_at timestamptz;
comment on column outbox.relays.ended_at is 'When its turn ended; a relay that is a process takes its row with it instead.';

drop function if exists outbox.start_relay(text, text[]);
