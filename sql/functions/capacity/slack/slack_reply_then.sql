-- Renders a reply in a request's thread when it is sent, as of the moment that it describes.
create or replace function capacity.slack_reply_then(p_kept jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return capacity.render_slack_reply(capacity.story_then(p_kept));
end
$$;
comment on function capacity.slack_reply_then(jsonb) is 'The renderer slack-reply: what happened, in a request''s thread.';
