-- Why a customer with this e-mail address would not get the link, or null. The value comes from customer_ref, so it may be anything.
-- Pure.
create or replace function capacity.address_problem(p_given jsonb, p_public_url text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_given is null or p_given in ('null', '""') then 'no_address'
              when jsonb_typeof(p_given) <> 'string' or not capacity.is_address(p_given #>> '{}') then 'bad_address'
              when p_public_url is null then 'no_public_url' end;
end
$$;
comment on function capacity.address_problem(jsonb, text)
  is 'Why no link can be mailed: no_address, bad_address or no_public_url. Nullable: p_given, p_public_url, result.';
