-- The verdict on an event of a request, for a member: what capacity.judge() says, and who could record it instead. For an event that the
-- state does not take, the caller adds what happened instead (capacity.too_late), once for all events.
create or replace function capacity.event_verdict(
  p_request capacity.requests, p_actor capacity.actor, p_event_type public.capacity_request_event_type, p_others jsonb
) returns capacity.action_verdict
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_judged capacity.verdict := capacity.judge(capacity.context_of(p_request, p_actor, p_event_type, null));
  v_verdict capacity.action_verdict;
begin
  v_verdict.repeated := v_judged.repeated;
  v_verdict.decided_by := v_judged.decided_by;
  v_verdict.decided_at := v_judged.decided_at;
  if v_judged.allowed is false then
    v_verdict.refusal := row(v_judged.code, v_judged.reason, v_judged.detail, v_judged.hint)::headroom.refusal;
  elsif not v_judged.repeated and v_judged.state_after is null then
    v_verdict.refusal.code := 'invalid_transition';
  end if;
  v_verdict.allowed := (v_verdict.refusal).code is null;
  if not v_judged.repeated and capacity.next_state(p_request.state, p_event_type, true, true) is not null then
    v_verdict.others := p_others;
  end if;
  return v_verdict;
end
$$;
comment on function capacity.event_verdict(capacity.requests, capacity.actor, public.capacity_request_event_type, jsonb)
  is 'The verdict on an event of a request, for a member. Nullable: p_others.';
