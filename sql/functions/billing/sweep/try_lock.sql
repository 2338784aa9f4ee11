-- Locks a request and its customer's turn, if nobody holds them right now: a sweep never waits.
create or replace function billing.try_lock(p_request_id text) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text;
begin
  select r.workspace_id into v_workspace_id from capacity.requests r where r.id = p_request_id for update skip locked;
  return v_workspace_id is not null and provisioning.lock_turn(v_workspace_id, capacity.customer_key_of(p_request_id), false);
end
$$;
comment on function billing.try_lock(text) is 'Whether a request and its customer''s turn could be locked.';
