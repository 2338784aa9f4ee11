-- The customer's address, if there is one. The requester may have entered anything, so a value that could break a header or reach several
-- people is ignored; after an erasure there is no address.
create or replace function capacity.email_of_customer(p_request_id text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (capacity.customer_reach(p_request_id)).address;
end
$$;
comment on function capacity.email_of_customer(text) is 'The customer''s address, if it is valid. Nullable: result.';
