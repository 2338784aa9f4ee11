-- Why no mail can be sent to a request's customer: erased, no_address, bad_address, no_public_url, or null.
create or replace function capacity.reach_problem(p_context capacity.context) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_context.erased then 'erased'
              else capacity.address_problem(p_context.customer_address, p_context.public_url) end;
end
$$;
comment on function capacity.reach_problem(capacity.context) is 'Why no link can be mailed to a customer. Nullable: result.';
