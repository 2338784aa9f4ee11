-- A person's name in a message; members who left the directory appear with the id that the log has.
create or replace function capacity.story_name(p_story jsonb, p_id text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(p_story #>> array['people', p_id, 'name'], p_id, 'somebody');
end
$$;
comment on function capacity.story_name(jsonb, text) is 'The name of a member in a story, as it stands in the directory.';
