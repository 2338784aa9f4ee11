-- Which workflow state of Linear was chosen for which state of ours; states without a choice are sent by their kind.
create or replace function capacity.list_linear_states(p_workspace_id text)
returns table (state public.capacity_request_state, linear_state_id text)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select l.state, l.linear_state_id from capacity.linear_states l where l.workspace_id = p_workspace_id order by l.state;
$$;
comment on function capacity.list_linear_states(text) is 'The workflow states of Linear that were chosen for states of requests.';
