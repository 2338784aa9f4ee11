-- Those who handle failures of a request, without its requester and the actor.
create or replace function capacity.operators(p_request capacity.requests, p_actor_id text) returns text[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select capacity.operators_of(p_request.workspace_id, array[p_request.requester_user_id, p_actor_id]);
$$;
comment on function capacity.operators(capacity.requests, text) is 'Member ids of those who handle failures of a request.';
