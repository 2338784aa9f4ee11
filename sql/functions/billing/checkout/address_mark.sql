-- The keyed hash of the current address of a request's customer; null if there is none.
create or replace function billing.address_mark(p_request capacity.requests) returns bytea
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  return (capacity.marks_of(p_request.workspace_id, null, capacity.email_of_customer(p_request.id))).by_address;
end
$$;
comment on function billing.address_mark(capacity.requests) is 'The keyed hash of a customer''s address. Nullable: result.';
