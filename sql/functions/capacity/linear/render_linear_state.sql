-- Keeps the issue's state and description current. Only the last of several unsent updates is sent.
create or replace function capacity.render_linear_state(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  -- A workspace that has lost its team keeps the issue's text current, and leaves its state unchanged.
  return jsonb_strip_nulls(jsonb_build_object('operation', 'issueUpdate', 'team_id', p_story -> 'linear_team'))
    || jsonb_build_object(
         'state_kind', capacity.linear_state_kind(p_story ->> 'state'),
         'input', jsonb_build_object('description', capacity.linear_description(p_story)) || capacity.linear_state_input(p_story));
end
$$;
comment on function capacity.render_linear_state(jsonb) is 'The payload that brings a request''s Linear issue up to date.';
