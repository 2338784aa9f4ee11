-- What a message about a moment keeps until it is sent: its story at that moment, so that every try says the same and shows no later
-- state. It includes the names of the people it addresses. Of what somebody wrote it has only the hash, and nothing of the
-- customer: data that is erased in the meantime is not sent.
create or replace function capacity.kept_story(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return p_story - '{reason,justification,asked,fixers,called,linear_team}'::text[];
end
$$;
comment on function capacity.kept_story(jsonb) is 'What a row keeps of a story until its message is rendered.';
