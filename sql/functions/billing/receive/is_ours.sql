-- Whether the metadata of an object says that this installation made it.
create or replace function billing.is_ours(p_object jsonb) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_object #>> '{metadata,headroom_installation}' = billing.installation_id(), false);
$$;
comment on function billing.is_ours(jsonb) is 'Whether an object of Stripe carries the mark of this installation.';
