-- A decision that a member took in Slack, by the same three steps as every entrance. The answer says in words what
-- happened now, or who decided before. People who see a request's message in a channel (p_seen) know that it exists; everybody else is told
-- that there is no such request, unless they may read it.
create or replace function inbound.decide(
  p_member directory.members, p_request_id text, p_event_type public.capacity_request_event_type, p_reason text, p_seen boolean,
  out request capacity.requests, out repeated boolean, out said text
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_context capacity.context := capacity.load_context(
    p_request_id, p_event_type, row('user', p_member.id, 'slack')::capacity.actor, p_member.workspace_id,
    case when not p_seen then p_member.id end);
  v_verdict capacity.verdict := capacity.judge(v_context);
  v_applied record;
begin
  repeated := v_verdict.repeated;
  if repeated then
    request := v_context.request;
    said := inbound.decided_already(v_context, v_verdict);
    return;
  elsif v_verdict.allowed and v_verdict.state_after is null then
    perform headroom.refuse(capacity.too_late(v_context.request));
  end if;
  v_applied := capacity.apply(v_context, v_verdict, jsonb_strip_nulls(jsonb_build_object('reason', p_reason)));
  request := v_applied.request;
  said := request.id || ': ' || capacity.story_sentence(coalesce(v_applied.story, capacity.story_now(request.id)));
end
$$;
comment on function inbound.decide(directory.members, text, public.capacity_request_event_type, text, boolean)
  is 'Records a decision taken in Slack and says what happened.';
