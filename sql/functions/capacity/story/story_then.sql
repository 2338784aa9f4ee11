-- The story for a message about a moment, from what its row kept; with what somebody wrote, or a note that it was erased since.
create or replace function capacity.story_then(p_kept jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return p_kept || jsonb_build_object('reason', capacity.free_text(p_kept ->> 'id', decode(p_kept ->> 'words', 'hex')));
end
$$;
comment on function capacity.story_then(jsonb) is 'The story behind a message about a moment, as its row kept it.';
