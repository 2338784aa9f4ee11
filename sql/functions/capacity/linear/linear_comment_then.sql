-- Renders a comment on a request's Linear issue when it is sent, as of the moment that it describes. Its id was made when it was enqueued:
-- a retry has the same id, so Linear makes no second comment.
create or replace function capacity.linear_comment_then(p_kept jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return capacity.render_linear_comment(capacity.story_then(p_kept));
end
$$;
comment on function capacity.linear_comment_then(jsonb) is 'The renderer linear-comment: what happened, on a request''s issue.';
