-- Asks the people that a request waits for to decide, on behalf of the requester, whom the entrance has verified. Throttled per request,
-- because the tenth nudge of an hour moves nobody; the request's lock reduces two concurrent nudges to one.
create or replace function capacity.nudge(p_request capacity.requests, p_actor capacity.actor) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_standing directory.standing := directory.standing_of(p_request.workspace_id, p_actor.id);
  v_request capacity.requests;
  v_notice capacity.notices;
begin
  -- Refused before the lock where possible, so that a caller who is refused blocks nobody.
  perform headroom.refuse(capacity.nudge_refusal(p_request, v_standing));
  select r.* into v_request from capacity.requests r where r.id = p_request.id for no key update;
  perform headroom.refuse(capacity.nudge_refusal(v_request, v_standing));
  v_notice := capacity.post_notice(v_request, 'nudge', null, null, p_actor, null);
  return jsonb_build_object(
    'request_id', v_request.id, 'notice_id', v_notice.id,
    'next_nudge_at', (select v_notice.created_at + w.nudge_every_minutes * interval '1 minute'
                        from directory.workspaces w where w.id = v_request.workspace_id),
    'effects', to_jsonb(v_notice.effects),
    'asked', (select coalesce(jsonb_agg(jsonb_build_object('id', m.id, 'name', m.display_name) order by m.id), '[]')
                from directory.members m
               where m.workspace_id = v_request.workspace_id and m.id = any (capacity.notice_asked(
                     v_request, 'nudge', null, capacity.asked_people(v_request, null)))));
end
$$;
comment on function capacity.nudge(capacity.requests, capacity.actor) is 'Nudges those whose decision a request waits for.';
