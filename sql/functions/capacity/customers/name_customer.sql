-- Keeps whose a new request is, if anything tells: the id that was given, else `org_id` in customer_ref, and the `email` there. What cannot
-- be an id or an address in customer_ref is ignored, because anything may stand there. An id is
-- shown where it was given and nowhere else: whoever knows an address must not learn it.
create or replace function capacity.name_customer(
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
comment on function capacity.name_customer(text, text, text, jsonb)
  is 'Keeps whose a new request is, where its terms tell. Nullable: p_customer_id, p_customer_ref.';
