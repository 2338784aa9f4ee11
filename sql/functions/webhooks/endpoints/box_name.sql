-- The name under which a secret of an endpoint is stored: its id is part of it, so that no box opens in another's place.
create or replace function webhooks.box_name(p_secret_id uuid) returns text
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select 'headroom endpoint ' || p_secret_id
$$;
comment on function webhooks.box_name(uuid) is 'The name under which a secret of an endpoint is stored.';
