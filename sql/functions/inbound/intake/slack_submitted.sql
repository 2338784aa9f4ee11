-- What is said to whoever submitted a request: its id, who is asked now, and that its customer will not be, where nobody could mail them.
create or replace function inbound.slack_submitted(p_request capacity.requests) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_story jsonb := capacity.story_of(p_request, null);
begin
  return concat_ws(E'\n',
    format('*%s* is %s: %s.', p_request.id, capacity.story_state(p_request.state::text), notify.slack_text(v_story ->> 'what', 200)),
    capacity.slack_step(v_story, 'commercial'), capacity.slack_step(v_story, 'technical'),
    ':warning: ' || inbound.slack_unasked(p_request));
end
$$;
comment on function inbound.slack_submitted(capacity.requests) is 'The reply to a submission.';
