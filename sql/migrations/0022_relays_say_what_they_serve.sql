-- Which rails somebody serves, and when that was last so: rows for a rail that nobody serves wait without a word, and a relay on demand is on the
-- list of relays only while it works.
alter table outbox.relays add column rails text[];
comment on column outbox.relays.rails is 'The rails that it serves; null: it did not say.';
alter table outbox.rails add column served_at timestamptz;
comment on column outbox.rails.served_at is 'When a relay that serves it last showed a sign of life; null: never.';

-- It has one parameter more, with a default, so that relays of the release before still start.
drop function if exists outbox.start_relay(text);
