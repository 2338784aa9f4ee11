-- How long operators get nothing more about a kind of problem after a message; what happens in the meantime is then one message.
create or replace function capacity.problem_pause() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select interval '10 minutes';
$$;
comment on function capacity.problem_pause() is 'How long operators get nothing more about a kind of problem.';
