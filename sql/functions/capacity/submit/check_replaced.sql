-- A request is never changed: it ends, and another replaces it. So the replaced request must have ended, and the actor
-- must be able to read it: otherwise anybody could find out which requests exist.
create or replace function capacity.check_replaced(p_workspace_id text, p_member_id text, p_request_id text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
begin
  select r.* into v_request from capacity.requests r where r.id = p_request_id and r.workspace_id = p_workspace_id;
  if v_request.id is null or not capacity.may_read(v_request, directory.standing_of(p_workspace_id, p_member_id)) then
    perform capacity.no_such_request(p_request_id);
  elsif v_request.state in ('SUBMITTED', 'UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING') then
    perform headroom.fail('conflict', 'The request that this one replaces is still open.', p_request_id,
                          'Cancel it first, then submit again.');
  end if;
end
$$;
comment on function capacity.check_replaced(text, text, text) is 'Raises unless the request that is replaced has ended.';
