-- The story of a message that says what happened, from what its row kept; and what somebody wrote, or that it was erased since.
create or replace function capacity.story_then(p_kept jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return p_kept || jsonb_build_object('reason', capacity.free_text(p_kept ->> 'id', decode(p_kept ->> 'words', 'hex')));
end
$$;
comment on function capacity.story_then(jsonb) is 'What a message about a moment is rendered from, by what its row kept.';
