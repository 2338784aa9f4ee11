-- The mark in Stripe's metadata that shows which objects belong to this installation: one account may serve several.
create or replace function billing.installation_id() returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select i.id::text from billing.installation i;
$$;
comment on function billing.installation_id() is 'The mark of this installation in Stripe''s metadata.';
