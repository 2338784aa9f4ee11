-- The shortest time between two mails with the customer's link.
create or replace function capacity.link_pause() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select interval '10 minutes';
$$;
comment on function capacity.link_pause() is 'The shortest time between two mails with the customer''s link.';
