-- Chooses the workflow state of the Linear team for a state of ours. Null removes the choice: the state is then sent by its kind,
-- and the rail uses the team's first state of that kind.
create or replace function capacity.put_linear_state(
  p_workspace_id text, p_state public.capacity_request_state, p_linear_state_id text,
  out state public.capacity_request_state, out linear_state_id text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if not exists (select from directory.workspaces w where w.id = p_workspace_id) then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(p_workspace_id, 64)), null,
                          'Create it first, or name another one.');
  elsif p_state is null then
    perform headroom.fail('invalid_input', 'Give the state of a request.');
  elsif length(p_linear_state_id) not between 1 and 64 or p_linear_state_id ~ '[[:cntrl:]]' then
    perform headroom.fail('invalid_input', 'The id of a workflow state has 1 to 64 characters.', left(p_linear_state_id, 80),
                          'Nothing was changed.');
  end if;
  if p_linear_state_id is null then
    delete from capacity.linear_states l where l.workspace_id = p_workspace_id and l.state = p_state;
  else
    insert into capacity.linear_states (workspace_id, state, linear_state_id) values (p_workspace_id, p_state, p_linear_state_id)
    on conflict (workspace_id, state) do update set linear_state_id = excluded.linear_state_id;
  end if;
  state := p_state;
  linear_state_id := p_linear_state_id;
end
$$;
comment on function capacity.put_linear_state(text, public.capacity_request_state, text)
  is 'Maps a state of a request to a workflow state in Linear, or back to its kind. Nullable: linear_state_id.';
