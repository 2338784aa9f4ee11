-- A request whose money the caller may see: those who may read the request, those who work on payments, and those who oversee everything. A
-- request that does not exist, one of another workspace and one that the caller may not see get the same answer.
create or replace function billing.request_in_reach(p_request_id text) returns capacity.requests
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
  v_request capacity.requests;
begin
  if v_caller.kind = 'anon' then
    perform headroom.fail('not_signed_in', 'This needs a member who is signed in, or a service key.', null, 'Sign in and try again.');
  end if;
  select r.* into v_request from capacity.requests r where r.id = p_request_id;
  if v_request.id is null
     or v_caller.kind = 'member' and (v_caller.workspace_id <> v_request.workspace_id
                                      or not billing.may_see(v_request, v_caller.member_id)) then
    perform capacity.no_such_request(p_request_id);
  end if;
  return v_request;
end
$$;
comment on function billing.request_in_reach(text) is 'A request whose money the caller may see.';
