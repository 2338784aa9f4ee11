-- The people whom an event notifies, as names of side effects. Each name has at least one recipient, because every name must have its
-- notification (I3). The actor is not notified. p_asked: whose turn it is after the event. p_quiet: colleagues see nothing of the request
-- yet.
create or replace function capacity.tells_of_event(
  p_context capacity.context, p_state_before public.capacity_request_state, p_asked jsonb, p_quiet boolean
) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_event text := p_context.event_type;
  -- Empty when a customer or the system acts: their ids may also be a member's.
  v_actor_id text := coalesce((p_context.standing).member_id, '');
  v_tells text[] := '{}';
begin
  if not p_quiet then
    if p_context.requester_here and v_request.requester_user_id <> v_actor_id then
      v_tells := '{tell:requester}';
    end if;
    if p_asked <> '[]' and capacity.told_asked(p_context, p_asked) <> '[]' then
      v_tells := v_tells || '{tell:asked}'::text[];
    end if;
    if v_event = 'REQUEST_SUBMITTED' and capacity.group_channel(v_request, p_asked) is not null then
      v_tells := v_tells || '{tell:group}'::text[];
    end if;
    if p_state_before = 'UNDER_REVIEW' then
      if p_context.told <> '{}' and capacity.no_longer_asked(p_context, p_asked) <> '{}' then
        v_tells := v_tells || '{tell:no_longer_asked}'::text[];
      end if;
      if p_context.group_told is not null and 'technical' = any (capacity.closed_steps(v_request, v_event)) then
        v_tells := v_tells || '{tell:group}'::text[];
      end if;
    elsif v_event = 'PROVISIONING_FAILED' and capacity.operators(v_request, v_actor_id) <> '{}' then
      v_tells := v_tells || '{tell:operators}'::text[];
    end if;
  end if;
  if v_request.state <> p_state_before then
    v_tells := v_tells || capacity.tells_of_offer(p_context, p_state_before);
  end if;
  return v_tells;
end
$$;
comment on function capacity.tells_of_event(capacity.context, public.capacity_request_state, jsonb, boolean)
  is 'Whom an event notifies, as names of side effects.';
