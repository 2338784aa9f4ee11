-- The variables of the templates of this layer. Required: a template must show it wherever it has a value.
create or replace function notify.template_variables()
returns table (variable text, templates text[], required text[], meaning text, example text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('whom', '{mail_failed}'::text[], '{mail_failed}'::text[], 'whose mail it is', 'the customer of CR-2026-000042'),
    ('customer', '{mail_failed}', '{}', 'set if it is a customer''s', 'yes'),
    ('spam', '{mail_failed,own_mail_failed}', '{}', 'set if the mail was reported as spam', 'yes')
$$;
comment on function notify.template_variables() is 'The variables of templates of notifications about notifications.';
