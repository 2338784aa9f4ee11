-- Makes a note of what somebody did in Linear to a request's issue: it appears in the request's thread, and is never a decision. Our own
-- changes are reported back too and are ignored: comments are known by their ids, and our first one shows which user we are there. That
-- user may be a person, whose key we were given and who comments and moves issues as well. So only a move to the request's current state
-- is taken for our own, by that user, or by anybody until we know the user.
create or replace function inbound.linear_handle(p_sent jsonb, p_request_id text) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_actor_id text := left(coalesce(p_sent #>> '{actor,id}', p_sent #>> '{data,userId}', p_sent #>> '{data,botActor,id}'), 64);
  v_text text := inbound.linear_note(p_sent);
begin
  -- Locked before its messages' lanes, as in everything that enqueues one.
  select r.* into v_request from capacity.requests r where r.id = p_request_id for no key update;
  if p_sent ->> 'type' = 'Comment' and inbound.linear_own_comment(p_request_id, p_sent #>> '{data,id}') then
    update directory.workspaces w set linear_actor_id = v_actor_id
     where w.id = v_request.workspace_id and w.linear_actor_id is null and v_actor_id <> '';
    return 'ignored';
  elsif v_text is null or p_sent ->> 'type' = 'Issue' and p_sent ->> 'action' = 'update' and exists (
    select from directory.workspaces w
      left join capacity.linear_states s on s.workspace_id = w.id and s.state = v_request.state
     where w.id = v_request.workspace_id and coalesce(w.linear_actor_id = v_actor_id, w.linear_actor_id is null)
       and case when s.linear_state_id is not null then p_sent #>> '{data,state,id}' = s.linear_state_id
                else p_sent #>> '{data,state,type}' = capacity.linear_state_kind(v_request.state::text) end)
  then
    return 'ignored';
  end if;
  perform capacity.post_notice(v_request, 'note', null, null, row('system', 'linear', 'linear')::capacity.actor, v_text);
  return 'done';
end
$$;
comment on function inbound.linear_handle(jsonb, text) is 'Turns a change in Linear into a note on its request; says whether it did.';
