-- Records the customer of a request whose address was set. A request that has a customer keeps it, and the address becomes that customer's
-- unless it is another's: changing where its mail goes does not change whom a request is for.
create or replace function capacity.record_customer_address(p_request capacity.requests, p_address text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_marks record := capacity.marks_of(p_request.workspace_id, null, p_address);
  v_key bytea := capacity.customer_key_of(p_request.id);
begin
  if v_key is null then
    insert into capacity.request_customers (request_id, workspace_id, customer_key)
    values (p_request.id, p_request.workspace_id, capacity.find_customer(p_request.workspace_id, null, v_marks.by_address));
  else
    insert into capacity.customer_marks (workspace_id, mark, customer_key, is_id)
    values (p_request.workspace_id, v_marks.by_address, v_key, false)
    on conflict do nothing;
  end if;
end
$$;
comment on function capacity.record_customer_address(capacity.requests, text) is 'Records a new address of a request''s customer.';
