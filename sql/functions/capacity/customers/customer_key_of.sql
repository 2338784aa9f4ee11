-- Identifies a request's customer: all requests of one customer in a workspace have the same key, before and after an erasure.
create or replace function capacity.customer_key_of(p_request_id text) returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (select c.customer_key from capacity.request_customers c where c.request_id = p_request_id);
end
$$;
comment on function capacity.customer_key_of(text) is 'The key of a request''s customer. Nullable: result.';
