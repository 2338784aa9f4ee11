-- Locks a request for a change to its money, and then its customer's turn, since a payment may begin a job. Everything in this schema is
-- changed under this lock.
create or replace function billing.lock_request(p_request_id text) returns capacity.requests
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
begin
  select r.* into strict v_request from capacity.requests r where r.id = p_request_id for update;
  perform provisioning.lock_turn(v_request.workspace_id, capacity.customer_key_of(v_request.id));
  return v_request;
end
$$;
comment on function billing.lock_request(text) is 'A request, locked with its customer''s turn.';
