-- A decision that a member took in Slack, by the one reducer that every entrance uses. The answer says in words what came of it: what
-- happened now, or who decided before.
create or replace function inbound.decide(
  p_member directory.members, p_request_id text, p_event_type public.capacity_request_event_type, p_reason text, p_seen boolean,
  out request capacity.requests, out repeated boolean, out said text
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_known capacity.requests := inbound.may_decide(p_member, p_request_id, p_event_type, p_seen);
  v_answer record;
  v_event capacity.events;
  v_code text;
begin
  begin
    v_answer := capacity.apply(v_known.id, p_event_type, row('user', p_member.id, 'slack')::capacity.actor,
                               jsonb_strip_nulls(jsonb_build_object('reason', p_reason)));
  exception when sqlstate 'PT409' then
    get stacked diagnostics v_code = pg_exception_detail;
    if v_code !~ '^invalid_transition' then
      raise;
    end if;
    -- Somebody was faster, between the look and the lock.
    select r.* into v_known from capacity.requests r where r.id = v_known.id;
    perform inbound.too_late(v_known);
  end;
  request := v_answer.request;
  repeated := v_answer.repeated;
  if repeated and not p_seen and not capacity.may_read(request, p_member.id) then
    perform capacity.no_such_request(p_request_id);
  end if;
  if repeated then
    said := inbound.decided_already(request, p_event_type, v_answer.decided_by, v_answer.decided_at, p_member.id);
    return;
  end if;
  select e.* into v_event from capacity.events e where e.request_id = request.id and e.seq = request.version;
  said := request.id || ': ' || capacity.story_sentence(capacity.story_of(request, v_event));
end
$$;
comment on function inbound.decide(directory.members, text, public.capacity_request_event_type, text, boolean)
  is 'Records a decision taken in Slack and says what came of it.';
