-- Counts an act outside the log that notifies others, such as a refund, and refuses too many. Events in the log and
-- notices are counted with it, by the same rule, without another statement (capacity.context_of, apply, post_notice).
--
-- Nothing is locked and nothing updated, so nobody waits here and a deadlock is impossible. Concurrent transactions do not
-- see one another: a member may exceed the limit by as many as they can have open at the same time.
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
comment on function capacity.count_act(text, capacity.actor) is 'Counts an act outside the log, and refuses too many.';
