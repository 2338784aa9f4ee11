-- Renders an update of a request's Linear issue when it is sent. However many events it waited behind, it shows the last one.
create or replace function capacity.linear_issue_now(p_payload jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return capacity.render_linear_state(capacity.story_now(p_payload ->> 'request'));
end
$$;
comment on function capacity.linear_issue_now(jsonb) is 'The renderer linear-issue: a request''s Linear issue as it should look now.';
