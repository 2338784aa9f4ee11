-- What a message that says what happened keeps until it is sent: its story as it was then, so that every try says the same and no later
-- state shows in it. Whom it calls upon, with what they were called; of what somebody wrote the hash alone, and nothing of the
-- customer: what is erased meanwhile is not sent.
create or replace function capacity.kept_story(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return p_story - '{reason,justification,asked,fixers,called,linear_team}'::text[];
end
$$;
comment on function capacity.kept_story(jsonb) is 'What a row keeps of a story until its message is rendered.';
