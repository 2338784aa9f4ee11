-- The checkout by which a request can be paid or is being paid; at most one exists.
create or replace function billing.open_checkout(p_request_id text) returns billing.checkouts
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select c from billing.checkouts c where c.request_id = p_request_id and c.state in ('asked', 'open', 'processing');
$$;
comment on function billing.open_checkout(text) is 'The checkout of a request that has not ended. Nullable: result.';
