-- A request is never changed: it is ended, and another takes its place. So the one that is replaced must be over.
create or replace function capacity.check_replaced(p_workspace_id text, p_request_id text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_state public.capacity_request_state;
begin
  if p_request_id is null then
    return;
  end if;
  select r.state into v_state from capacity.requests r where r.id = p_request_id and r.workspace_id = p_workspace_id;
  if not found then
    perform capacity.fail('invalid_input', 'The request that this one replaces does not exist.', left(p_request_id, 80), 'Check its id, or leave it out.');
  elsif v_state in ('SUBMITTED', 'UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING') then
    perform capacity.fail('conflict', 'The request that this one replaces is still open.', p_request_id, 'Cancel it first, then submit again.');
  end if;
end
$$;
comment on function capacity.check_replaced(text, text) is 'Raises unless the request that is replaced is over.';
