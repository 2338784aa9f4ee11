-- Counts what a person does beside the log that others are told of, such as a refund, and refuses too much. What stands in the log and
-- among the notices is counted with it, by the same rule, without a statement more (capacity.context_of, apply, post_notice).
--
-- Nothing is locked and nothing updated, so nobody waits here and a deadlock is impossible. Transactions that run at the same moment do not
-- see one another: one member may pass the limit by as many as they can have open at once.
create or replace function capacity.count_act(p_request_id text, p_actor capacity.actor) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_request capacity.requests;
  v_context capacity.context;
  v_levels integer;
begin
  select r.* into strict v_request from capacity.requests r where r.id = p_request_id;
  v_context := capacity.context_of(v_request, p_actor, null, null);
  v_levels := capacity.levels_behind(v_request.workspace_id, p_actor, v_context.acts, v_context.acts_per_hour);
  insert into capacity.acts (workspace_id, account, at)
  select v_request.workspace_id, capacity.account_of(p_actor), clock_timestamp() where capacity.account_of(p_actor) is not null;
end
$$;
comment on function capacity.count_act(text, capacity.actor) is 'Counts what somebody does beside the log, and refuses too much.';
