-- The common part of both entrances for decisions: establishes the actor, takes the three steps, and says who decided, this call or an
-- earlier one. Members who may not read the request get "no such request"; a repeat is answered to those who may read it.
create or replace function capacity.decide_as_caller(
  p_request_id text,
  p_event_type public.capacity_request_event_type,
  p_actor_type public.capacity_request_actor_type,
  p_actor_id text,
  p_payload jsonb,
  p_expected_version integer,
  out context capacity.context,
  out repeated boolean,
  out counts boolean,
  out decided_by text,
  out decided_at timestamptz,
  out decided_via text
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
  v_context capacity.context;
  v_verdict capacity.verdict;
  v_applied record;
  v_request capacity.requests;
begin
  if p_event_type is null then
    perform headroom.fail('invalid_input', 'Give the event to record.');
  elsif v_caller.kind = 'anon' then
    -- A caller who is not signed in gets only that answer, and nothing about what exists.
    perform capacity.acting(p_actor_type, p_actor_id, null);
  end if;
  -- A member acts as themselves; on whose behalf is found with the rest.
  v_context := capacity.load_context(
    p_request_id, p_event_type, row('user', coalesce(v_caller.member_id, p_actor_id), v_caller.via)::capacity.actor,
    v_caller.workspace_id, v_caller.member_id);
  v_request := v_context.request;
  if p_actor_type is distinct from 'user' or p_actor_id ~ '^[UW][A-Z0-9]{2,31}$'
     or coalesce(p_actor_id, v_caller.member_id, '') is distinct from (v_context.standing).member_id then
    -- A Slack id, no name, or a wrong one: only then is it necessary to find out who that is and what is wrong.
    v_context.actor := capacity.acting(p_actor_type, p_actor_id, v_request.workspace_id);
    v_context := capacity.context_of(v_request, v_context.actor, p_event_type, p_event_type::text);
  end if;

  v_verdict := capacity.judge(v_context, p_expected_version);
  if v_verdict.repeated and not capacity.may_read(v_request, v_context.standing) then
    perform headroom.fail('not_allowed', 'This was already decided, and you may not see it.', p_request_id);
  end if;
  v_applied := capacity.apply(v_context, v_verdict, p_payload);
  v_request := v_applied.request;
  v_context.request := v_request;
  context := v_context;
  repeated := v_verdict.repeated;
  -- Only an endorsement leaves the matter open.
  counts := p_event_type <> 'COMMERCIAL_APPROVED' or v_request.commercial_approved_at is not null;
  decided_by := case when repeated then v_verdict.decided_by else (v_context.actor).id end;
  decided_at := case when repeated then v_verdict.decided_at else v_request.updated_at end;
  decided_via := case when repeated then capacity.decided_via(p_request_id, p_event_type, decided_at) else (v_context.actor).via end;
end
$$;
comment on function capacity.decide_as_caller(
  text, public.capacity_request_event_type, public.capacity_request_actor_type, text, jsonb, integer
) is 'Records an event for the caller and says who decided.';
