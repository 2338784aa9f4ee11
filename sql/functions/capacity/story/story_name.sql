-- What a person is called in a message; whoever left the directory is called by the id that the log knows.
create or replace function capacity.story_name(p_story jsonb, p_id text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(p_story #>> array['people', p_id, 'name'], p_id, 'somebody');
end
$$;
comment on function capacity.story_name(jsonb, text) is 'The name of a member in a story, as it stands in the directory.';
