-- Whether Vault keeps the secrets of endpoints, so that a relay opens them without a key of its own.
create or replace function webhooks.kept_in_vault() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select headroom.has_vault()
$$;
comment on function webhooks.kept_in_vault() is 'Whether a relay opens the secrets of endpoints without a key.';
