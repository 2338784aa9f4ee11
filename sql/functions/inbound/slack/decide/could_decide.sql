-- The verdict of capacity.judge() on a decision now, before anybody fills in a form for it; nothing is locked. A decision that would be
-- refused is refused here, in the same words. The caller answers a repeat.
create or replace function inbound.could_decide(
  p_member directory.members, p_request_id text, p_event_type public.capacity_request_event_type, p_seen boolean,
  out request capacity.requests, out repeated boolean
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_context capacity.context;
  v_verdict capacity.verdict;
begin
  request := (inbound.readable(p_member, p_request_id, p_seen)).request;
  v_context := capacity.context_of(request, row('user', p_member.id, 'slack')::capacity.actor, p_event_type, null);
  v_verdict := capacity.judge(v_context);
  repeated := v_verdict.repeated;
  if not repeated and not v_verdict.allowed then
    perform headroom.fail(v_verdict.code, v_verdict.reason, v_verdict.detail, v_verdict.hint);
  elsif not repeated and v_verdict.state_after is null then
    perform headroom.refuse(capacity.too_late(request));
  end if;
end
$$;
comment on function inbound.could_decide(directory.members, text, public.capacity_request_event_type, boolean)
  is 'The request, and whether this was decided before, if this member could decide it now.';
