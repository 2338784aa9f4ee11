-- The request that somebody wants to say or do something about, and the actor. Nothing is locked yet, so a caller who is refused has
-- blocked nobody. Whether the member may read the request is checked before their other arguments, so that no other refusal
-- reveals that it exists.
create or replace function capacity.request_for(
  p_request_id text, p_actor_id text, out request capacity.requests, out actor capacity.actor
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  request := capacity.readable_request(p_request_id);
  actor := capacity.acting('user', p_actor_id, request.workspace_id);
  if not capacity.may_read(request, directory.standing_of(request.workspace_id, actor.id)) then
    perform capacity.no_such_request(p_request_id);
  end if;
end
$$;
comment on function capacity.request_for(text, text) is 'A request that the actor may read, and the actor; or the same refusal every time.';
