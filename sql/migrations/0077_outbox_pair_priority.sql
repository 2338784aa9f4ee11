-- A pair has a priority.
drop function if exists outbox.enqueue_pair(text, text, text, text, text, text, text, jsonb, text, jsonb, text, jsonb, text, jsonb);
