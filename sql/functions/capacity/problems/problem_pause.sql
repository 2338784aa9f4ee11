-- How long operators who were told of a kind of problem hear nothing more of that kind: what happens meanwhile is one message then.
create or replace function capacity.problem_pause() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select interval '10 minutes';
$$;
comment on function capacity.problem_pause() is 'How long operators hear nothing more of a kind of problem.';
