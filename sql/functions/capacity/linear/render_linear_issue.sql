-- The issue that mirrors a request. Its id was made and stored when the row was enqueued: a retry has the same id, so
-- Linear makes no second issue.
create or replace function capacity.render_linear_issue(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'operation', 'issueCreate', 'team_id', p_story -> 'linear_team', 'state_kind', capacity.linear_state_kind(p_story ->> 'state'),
    'input', jsonb_build_object(
      'id', p_story -> 'new_id', 'teamId', p_story -> 'linear_team',
      'title', notify.render_text(concat_ws(': ', p_story ->> 'id', p_story ->> 'what'), 250),
      'description', capacity.linear_description(p_story)) || capacity.linear_state_input(p_story));
end
$$;
comment on function capacity.render_linear_issue(jsonb) is 'The payload that creates a request''s Linear issue.';
