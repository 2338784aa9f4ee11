-- What people are told of, by kind. Critical: it passes quiet hours and preferences, because somebody loses money, time or a deadline
-- without it. The documentation is drawn from it.
create or replace function notify.categories()
returns table (category text, title text, audience text, critical boolean, channels text[], retention_days integer, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('requests', 'Your requests', 'member', false, '{in-app}'::text[], 365, 'each step of the requests that you made'),
    ('reviews', 'Reviews', 'member', false, '{in-app,direct}', 365, 'a decision is asked of you, or is no longer needed'),
    ('operations', 'Operations', 'member', true, '{in-app,direct}', 365, 'a job failed, a dispute was opened, messages were given up'),
    ('offers', 'Offers', 'customer', true, '{email}', 365, 'an offer waits for the customer''s answer, or has ended'),
    ('payments', 'Payments', 'customer', true, '{email}', 365, 'what became of the customer''s money'),
    ('progress', 'Progress', 'customer', false, '{email}', 365, 'how far the customer''s capacity is'),
    ('general', 'Other messages', 'member', false, '{in-app}', 90, 'what other programs tell you')
$$;
comment on function notify.categories() is 'What people are told of, by kind.';
