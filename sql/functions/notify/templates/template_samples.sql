-- Sample values with which the templates of this layer are checked.
create or replace function notify.template_samples() returns table (name text, sample text, vals jsonb)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('mail_failed', 'mail to a member', '{"whom": "Rita"}'::jsonb),
    ('mail_failed', 'mail to a customer, who called it spam',
     '{"whom": "the customer of CR-2026-000042", "customer": "yes", "spam": "yes"}'),
    ('own_mail_failed', 'the mail server does not take it', '{}'),
    ('own_mail_failed', 'it was reported as spam', '{"spam": "yes"}'),
    ('webhook_gone', 'the only case', '{}')
$$;
comment on function notify.template_samples() is 'Sample values with which templates are checked.';
