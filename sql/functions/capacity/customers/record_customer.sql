-- Records the customer of a new request, if there is a clue: the given id, else `org_id` in customer_ref, and `email` there. Values
-- in customer_ref that cannot be an id or an address are ignored, because customer_ref may hold anything. An id is
-- shown only where it was given: a caller who knows an address must not find out the id.
create or replace function capacity.record_customer(
  p_request_id text, p_workspace_id text, p_customer_id text, p_customer_ref jsonb
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := coalesce(p_customer_id, case
    when jsonb_typeof(p_customer_ref -> 'org_id') = 'string' and capacity.is_customer_id(p_customer_ref ->> 'org_id')
      then p_customer_ref ->> 'org_id' end);
  v_address text := case
    when headroom.canonical_address(p_customer_ref ->> 'email') is not null
      then p_customer_ref ->> 'email' end;
  v_marks record;
begin
  if v_id is not null or v_address is not null then
    v_marks := capacity.marks_of(p_workspace_id, v_id, v_address);
    insert into capacity.request_customers (request_id, workspace_id, customer_key, customer_id)
    values (p_request_id, p_workspace_id, capacity.find_customer(p_workspace_id, v_marks.by_id, v_marks.by_address), v_id);
  end if;
end
$$;
comment on function capacity.record_customer(text, text, text, jsonb)
  is 'Records the customer of a new request, where its terms name one. Nullable: p_customer_id, p_customer_ref.';
