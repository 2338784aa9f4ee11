-- Who looks after what failed of a request, but for whoever asked for it or acts.
create or replace function capacity.operators(p_request capacity.requests, p_actor_id text) returns text[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select capacity.operators_of(p_request.workspace_id, array[p_request.requester_user_id, p_actor_id]);
$$;
comment on function capacity.operators(capacity.requests, text) is 'Member ids of those who look after what failed.';
