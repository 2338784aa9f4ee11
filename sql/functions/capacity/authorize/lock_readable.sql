-- Locks a request for a member who is about to decide something, if they may read it. That is asked before the lock, so that nobody can
-- hold up what is not theirs; and again when the state has changed meanwhile, since operators may read in some states only.
create or replace function capacity.lock_readable(p_request_id text, p_workspace_id text, p_member_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_seen capacity.requests;
  v_locked capacity.requests;
begin
  select r.* into v_seen from capacity.requests r where r.id = p_request_id and r.workspace_id = p_workspace_id;
  if v_seen.id is null or not capacity.may_read(v_seen, p_member_id) then
    perform capacity.no_such_request(p_request_id);
  end if;
  select r.* into v_locked from capacity.requests r where r.id = p_request_id for update;
  if v_locked.state <> v_seen.state and not capacity.may_read(v_locked, p_member_id) then
    perform capacity.no_such_request(p_request_id);
  end if;
end
$$;
comment on function capacity.lock_readable(text, text, text)
  is 'Locks a request that the member may read; raises not_found for every other.';
