-- Whether JSON is nested deeper than 64 levels: the one bound on depth, for whatever comes in. Deeper values are carried by Postgres and
-- break those who take them apart by recursion, relays and receivers among them.
create or replace function outbox.too_deep(p_value jsonb) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_path_exists(p_value, 'strict $.**{65}');
$$;
comment on function outbox.too_deep(jsonb) is 'Whether JSON is nested deeper than 64 levels.';
