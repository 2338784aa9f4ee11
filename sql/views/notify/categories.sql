-- The kinds of notifications. Critical: it ignores quiet hours and preferences, because a person would lose money, time or a deadline
-- without it. The documentation is generated from it.
create or replace view notify.categories (category, title, audience, critical, channels, retention_days, meaning, place) as
values
  ('requests', 'Your requests', 'member', false, '{in-app}'::text[], 365, 'each step of the requests that you made', 1),
  ('reviews', 'Reviews', 'member', false, '{in-app,direct}', 365, 'a decision is asked of you, or is no longer needed', 2),
  ('operations', 'Operations', 'member', true, '{in-app,direct}', 365, 'a job failed, a dispute was opened, messages were given up', 3),
  ('offers', 'Offers', 'customer', true, '{email}', 365, 'an offer waits for the customer''s answer, or has ended', 4),
  ('payments', 'Payments', 'customer', true, '{email}', 365, 'what happened to the customer''s money', 5),
  ('progress', 'Progress', 'customer', false, '{email}', 365, 'how far the customer''s capacity is', 6),
  ('general', 'Other messages', 'member', false, '{in-app}', 90, 'what other programs tell you', 7);
comment on view notify.categories is 'The kinds of notifications; `place` is their order.';
