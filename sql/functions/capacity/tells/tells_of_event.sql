-- Whom an event tells, as names of side effects. Each that is named has somebody to tell, for every name must have its notification (I3).
-- p_actor_id: who acts, and is not told of it. p_quiet: colleagues hear nothing of the request as yet.
create or replace function capacity.tells_of_event(
  p_request capacity.requests, p_event_type public.capacity_request_event_type, p_state_before public.capacity_request_state,
  p_actor_id text, p_quiet boolean
) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_tells text[] := '{}';
  v_asked text[] := '{}';
  v_endorsed boolean := p_event_type = 'COMMERCIAL_APPROVED' and p_request.commercial_approved_at is null;
  v_steps text[];
begin
  if not p_quiet then
    if p_request.requester_user_id <> p_actor_id and exists (
         select from directory.members m where m.workspace_id = p_request.workspace_id and m.id = p_request.requester_user_id
            and m.active) then
      v_tells := '{tell:requester}';
    end if;
    if p_event_type = 'REQUEST_SUBMITTED' or v_endorsed then
      v_asked := array(select a.member_id from capacity.asked_now(p_request) a
                        where a.asked and a.member_id <> p_actor_id and (not v_endorsed or a.step = 'commercial'));
      v_tells := v_tells || case when v_asked <> '{}' then '{tell:asked}'::text[] else '{}' end
        || case when p_event_type = 'REQUEST_SUBMITTED' and capacity.group_channel(p_request) is not null
                then '{tell:group}'::text[] else '{}' end;
    end if;
    if p_state_before = 'UNDER_REVIEW' then
      v_steps := capacity.closed_steps(p_request, p_event_type::text);
      if v_steps <> '{}' and exists (select from capacity.still_asked(p_request, v_steps, v_asked || p_actor_id)) then
        v_tells := v_tells || '{tell:no_longer_asked}'::text[];
      end if;
      if 'technical' = any (v_steps) and capacity.group_told(p_request) is not null then
        v_tells := v_tells || '{tell:group}'::text[];
      end if;
    elsif p_event_type = 'PROVISIONING_FAILED' and capacity.operators(p_request, p_actor_id) <> '{}' then
      v_tells := v_tells || '{tell:operators}'::text[];
    end if;
  end if;
  if p_request.state <> p_state_before then
    v_tells := v_tells || capacity.tells_of_offer(p_request, p_state_before);
  end if;
  return v_tells;
end
$$;
comment on function capacity.tells_of_event(
  capacity.requests, public.capacity_request_event_type, public.capacity_request_state, text, boolean)
  is 'Whom an event tells, as names of side effects.';
