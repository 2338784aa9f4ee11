-- The templates of this layer: for whom each is, and when it is used. Layers above add theirs (capacity.known_templates).
create or replace function notify.known_templates() returns table (name text, audience text, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('mail_failed', 'member', 'mail to somebody else does not arrive'),
    ('own_mail_failed', 'member', 'their own mail does not arrive'),
    ('webhook_gone', 'member', 'their Slack webhook was removed')
$$;
comment on function notify.known_templates() is 'The templates of notifications about notifications.';
