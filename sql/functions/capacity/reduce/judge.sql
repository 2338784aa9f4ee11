-- The verdict on a decision, from its context alone: Was it taken before, by whom and when? May they, by which rule, and does it count?
-- Is it about the version they saw? Which state follows? Pure: the same context gets the same verdict, whoever asks, so a button, a
-- preview and the decision itself cannot differ.
--
-- A repeat is answered first, in every state. An allowed decision without a next state comes too late: the state of the
-- request does not take the event.
create or replace function capacity.judge(p_context capacity.context, p_expected_version integer default null) returns capacity.verdict
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_event public.capacity_request_event_type := p_context.event_type;
  v_asked record;
  v_verdict capacity.verdict;
begin
  if v_event = 'COMMERCIAL_APPROVED' then
    v_verdict.decided_by := v_request.commercial_approved_by;
    v_verdict.decided_at := v_request.commercial_approved_at;
  elsif v_event = 'TECH_REVIEW_APPROVED' then
    v_verdict.decided_by := v_request.technical_approved_by;
    v_verdict.decided_at := v_request.technical_approved_at;
  else
    v_verdict.decided_by := p_context.decided_by;
    v_verdict.decided_at := p_context.decided_at;
  end if;
  v_verdict.repeated := v_verdict.decided_at is not null;
  if v_verdict.repeated then
    return v_verdict;
  end if;

  v_asked := capacity.authorize(p_context.actor, p_context.standing, v_request, v_event, p_context.now);
  v_verdict.allowed := v_asked.allowed is true;
  v_verdict.counts := v_asked.counts;
  if not v_verdict.allowed then
    v_verdict.code := v_asked.code;
    v_verdict.reason := v_asked.reason;
    v_verdict.detail := v_request.id;
    v_verdict.hint := 'Nothing was changed.';
    return v_verdict;
  elsif not v_verdict.counts and p_context.endorsed_at is not null then
    v_verdict.repeated := true;
    v_verdict.decided_by := (p_context.actor).id;
    v_verdict.decided_at := p_context.endorsed_at;
    return v_verdict;
  elsif p_expected_version <> v_request.version then
    v_verdict.allowed := false;
    v_verdict.code := 'stale_version';
    v_verdict.reason := 'The request has changed since you looked at it.';
    v_verdict.detail := format('version %s, expected %s', v_request.version, p_expected_version);
    v_verdict.hint := 'Read it again, and decide on what it says now. Nothing was changed.';
    return v_verdict;
  end if;
  v_verdict.state_after := capacity.next_state(
    v_request.state, v_event,
    v_request.commercial_approved_at is not null or v_event = 'COMMERCIAL_APPROVED' and v_verdict.counts,
    v_request.technical_approved_at is not null or v_event = 'TECH_REVIEW_APPROVED');
  return v_verdict;
end
$$;
comment on function capacity.judge(capacity.context, integer)
  is 'Whether a decision is a repeat, allowed and current, and which state follows. Nullable: p_expected_version.';
