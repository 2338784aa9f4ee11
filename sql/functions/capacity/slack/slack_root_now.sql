-- Renders a request's root message when it is sent, to post or to update it. However many events it waited behind, it shows
-- the latest.
create or replace function capacity.slack_root_now(p_kept jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return capacity.render_slack_root(capacity.story_now(p_kept ->> 'request'), coalesce(p_kept ->> 'method', 'chat.update'));
end
$$;
comment on function capacity.slack_root_now(jsonb) is 'The renderer slack-root: a request''s root message as it should look now.';
