-- The workflow state to set, if the workspace has chosen one; else the rail uses the kind.
create or replace function capacity.linear_state_input(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when jsonb_typeof(p_story -> 'linear_state') = 'string' then jsonb_build_object('stateId', p_story -> 'linear_state')
              else '{}' end;
end
$$;
comment on function capacity.linear_state_input(jsonb) is 'The part of an issue''s input that sets its state.';
