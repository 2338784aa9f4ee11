-- A request that the caller may read. A request that does not exist, one of another workspace and one that they may not read get the same
-- answer.
create or replace function capacity.readable_request(p_request_id text) returns capacity.requests
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
                                      or not capacity.may_read(
                                           v_request, directory.standing_of(v_caller.workspace_id, v_caller.member_id))) then
    perform capacity.no_such_request(p_request_id);
  end if;
  return v_request;
end
$$;
comment on function capacity.readable_request(text) is 'A request that the caller may read, or the same refusal every time.';
