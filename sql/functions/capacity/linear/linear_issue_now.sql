-- Renders a request's Linear issue when it is sent, to create or to update it. However many events it waited behind, it shows
-- the latest. The id of a new issue was made when it was enqueued: a retry has the same id, so Linear makes no second issue.
create or replace function capacity.linear_issue_now(p_kept jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_story jsonb := capacity.story_now(p_kept ->> 'request') || (p_kept - 'request');
begin
  v_story := v_story || jsonb_build_object('linear_state', (
    select s.linear_state_id from capacity.linear_states s
     where s.workspace_id = v_story ->> 'workspace' and s.state = (v_story ->> 'state')::public.capacity_request_state));
  return case when p_kept ? 'new_id' then capacity.render_linear_issue(v_story) else capacity.render_linear_state(v_story) end;
end
$$;
comment on function capacity.linear_issue_now(jsonb) is 'The renderer linear-issue: a request''s Linear issue as it should look now.';
