-- Where the customer gets mail, if anywhere. customer_ref is whatever the requester gave, so an address that could break a
-- header or reach several people is none; and after an erasure there is none either.
create or replace function capacity.email_of_customer(p_request_id text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select d.customer_ref ->> 'email' from capacity.personal_data d
     where d.request_id = p_request_id and jsonb_typeof(d.customer_ref -> 'email') = 'string'
       and length(d.customer_ref ->> 'email') <= 320
       and d.customer_ref ->> 'email' ~ '^[^@\s[:cntrl:],;:<>()"\\]+@[^@\s[:cntrl:],;:<>()"\\]+$'
  );
end
$$;
comment on function capacity.email_of_customer(text) is 'The customer''s address, when it is one. Nullable: result.';
