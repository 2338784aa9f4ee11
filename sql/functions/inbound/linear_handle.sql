-- Makes a note of what somebody did in Linear to the issue of a request: said in the request's thread, and never a decision. What we did
-- there ourselves comes back too and is no news; the first comment of ours that does tells who we are there. Until then, an issue that
-- was moved to where its request stands is taken for our own doing.
create or replace function inbound.linear_handle(p_sent jsonb, p_request_id text) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_actor_id text := left(coalesce(p_sent #>> '{actor,id}', p_sent #>> '{data,userId}', p_sent #>> '{data,botActor,id}'), 64);
  v_text text := inbound.linear_note(p_sent);
begin
  -- Locked before its messages' lanes, like by everything that enqueues one.
  select r.* into v_request from capacity.requests r where r.id = p_request_id for no key update;
  if p_sent ->> 'type' = 'Comment' and inbound.linear_own_comment(p_request_id, p_sent #>> '{data,id}') then
    update capacity.workspaces w set linear_actor_id = v_actor_id
     where w.id = v_request.workspace_id and w.linear_actor_id is null and v_actor_id <> '';
    return 'ignored';
  elsif v_text is null or exists (
    select from capacity.workspaces w
     where w.id = v_request.workspace_id
       and (w.linear_actor_id = v_actor_id
            or w.linear_actor_id is null and p_sent ->> 'type' = 'Issue' and p_sent #>> '{data,state,type}' = capacity.linear_state_kind(v_request.state::text)))
  then
    return 'ignored';
  end if;
  perform capacity.post_notice(v_request, 'note', null, null, row('system', 'linear', 'linear')::capacity.actor, v_text);
  return 'done';
end
$$;
comment on function inbound.linear_handle(jsonb, text) is 'Turns a change in Linear into a note on its request; says whether it did.';
