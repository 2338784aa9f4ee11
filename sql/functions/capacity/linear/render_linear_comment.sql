-- What happened, as a comment on the issue; other people's words are quoted.
create or replace function capacity.render_linear_comment(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_words text := p_story ->> 'reason';
begin
  return jsonb_build_object('operation', 'commentCreate', 'input', jsonb_build_object(
    'id', p_story -> 'new_id',
    'body', capacity.linear_text(capacity.story_sentence(p_story), 2000)
      || coalesce(E'\n\n> ' || replace(capacity.linear_text(nullif(v_words, ''), 4000), E'\n', E'\n> '), '')));
end
$$;
comment on function capacity.render_linear_comment(jsonb) is 'The payload of a comment on a request''s Linear issue.';
