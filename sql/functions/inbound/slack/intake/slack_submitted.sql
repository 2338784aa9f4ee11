-- The reply to the person who submitted a request: its id, who is asked now, and that its customer will not be if nobody could mail them.
-- It uses the story of the submission, or the current story if that has been overtaken: because a rule approved the request immediately,
-- or because the request already existed.
create or replace function inbound.slack_submitted(p_context capacity.context, p_story jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_story jsonb;
begin
  v_story := case when p_story is not null and v_request.version = 1 then capacity.with_reviews(p_story, v_request)
                  else capacity.story_now(v_request.id) end;
  return inbound.slack_reply(concat_ws(E'\n',
    format('*%s* is %s: %s.', v_request.id, capacity.story_state(v_request.state::text), notify.slack_text(v_story ->> 'what', 200)),
    capacity.slack_step(v_story, 'commercial'), capacity.slack_step(v_story, 'technical'),
    ':warning: ' || inbound.slack_unasked(p_context)), 'done', v_request.id);
end
$$;
comment on function inbound.slack_submitted(capacity.context, jsonb) is 'The reply to a submission. Nullable: p_story.';
