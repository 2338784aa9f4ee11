-- Where the customer gets mail, if anywhere. The address may be whatever the requester gave, so one that could break a header or reach
-- several people is none; and after an erasure there is none either.
create or replace function capacity.email_of_customer(p_request_id text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (capacity.customer_reach(p_request_id)).address;
end
$$;
comment on function capacity.email_of_customer(text) is 'The customer''s address, when it is one. Nullable: result.';
