-- A relay on demand is there for seconds at a time. What it leaves says that somebody delivers, and when that was.
alter table outbox.relays add column on_demand boolean not null default false, add column ended_at timestamptz;
comment on column outbox.relays.ended_at is 'When its turn ended; a relay that is a process takes its row with it instead.';

drop function if exists outbox.start_relay(text, text[]);
