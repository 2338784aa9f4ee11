-- Records an event: an approval, a rejection, an answer, a cancellation. The reducer does all of it; this establishes who acts
-- and answers with the request as it is then. A repeat of a decision is answered too, to those who may read the request.
--
-- The answer is a row of the view, made from what the reducer returned rather than read back. One look-up before brings all else that
-- it needs: who acts, and what deliveries left behind; the archive is asked when somebody was reached only if anybody was. Plans are made
-- once: every statement underneath finds its rows by key, and planning took a tenth of the time.
create or replace function public.apply_capacity_event(
  p_request_id text,
  p_event_type public.capacity_request_event_type,
  p_actor_type public.capacity_request_actor_type,
  p_actor_id text,
  p_payload jsonb default '{}',
  p_expected_version integer default null
) returns public.capacity_requests
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_known record;
  v_caller record;
  v_actor capacity.actor;
  v_answer record;
  v_request capacity.requests;
begin
  if p_event_type is null then
    perform capacity.fail('invalid_input', 'Say which event is to be recorded.');
  end if;
  select r.workspace_id, d.customer_ref, m.id as member_id, e.effects as surfaces, l.stream_id, l.delivered_to, c.value #>> '{}' as thread_ts
    into v_known
    from capacity.requests r
    left join capacity.personal_data d on d.request_id = r.id
    left join capacity.members m on m.workspace_id = r.workspace_id and m.id = p_actor_id and m.active
    left join capacity.events e on e.request_id = r.id and e.seq = 1
    left join outbox.lanes l on l.stream_id = (select s.stream_id from outbox.streams s where s.name = 'capacity') and l.key = r.id || ':slack'
    left join outbox.captures c on c.lane_id = l.lane_id and c.name = 'slack_thread_ts'
   where r.id = p_request_id;
  v_caller := capacity.caller();
  -- Somebody who is not signed in is told that, and nothing about what exists.
  if v_known.workspace_id is null and v_caller.kind <> 'anon' then
    perform capacity.fail('not_found', 'There is no such request.', left(p_request_id, 80), 'Check the id; it looks like CR-2026-000042.');
  end if;
  if v_caller.kind in ('service', 'sql') and p_actor_type = 'user' and v_known.member_id is not null and p_actor_id !~ '^[UW][A-Z0-9]{2,31}$' then
    -- What acting() would answer, without asking for the member again.
    v_actor := row('user', v_known.member_id, v_caller.via)::capacity.actor;
  else
    v_actor := capacity.acting(p_actor_type, p_actor_id, v_known.workspace_id);
  end if;
  v_answer := capacity.apply(p_request_id, p_event_type, v_actor, p_payload, p_expected_version);
  v_request := v_answer.request;
  if v_answer.repeated and not capacity.may_read(v_request, v_actor.id) then
    perform capacity.fail('not_allowed', 'This was decided already, and it is not yours to see.', p_request_id);
  end if;
  return row(
    v_request.id, v_request.version, v_request.state, v_request.created_at, v_request.updated_at, v_request.requester_user_id,
    v_request.commercial_owner_user_id, v_request.infra_owner_group, v_known.customer_ref, v_request.requested_size, v_request.quantity,
    v_request.region, v_request.needed_by_date, v_request.expected_duration_days, v_request.estimated_monthly_cost_usd,
    v_request.commercial_approved_at, v_request.technical_approved_at, v_request.next_deadline_at, v_request.confirmation_ttl_days,
    v_request.slack_channel_id, v_known.thread_ts,
    case when 'linear:issue' = any (v_known.surfaces) then capacity.captured_value(v_request.id, 'linear', 'linear_issue_id') end,
    case when v_known.thread_ts is not null or v_known.delivered_to is not null
         -- What this event sends has reached nobody yet.
         then capacity.last_delivery(v_known.stream_id, v_request.id, v_request.version - (not v_answer.repeated)::integer)
         else capacity.last_notified_at(v_request.id, v_request.version) end,
    v_request.cancellation_reason, v_request.cancellation_authorizer_user_id, v_request.workspace_id, v_request.state_since,
    v_request.replaces_request_id, v_request.review_plan, v_request.commercial_endorsed_at, v_request.commercial_endorsed_by,
    v_request.commercial_approved_by, v_request.technical_approved_by, v_request.rejection_reason)::public.capacity_requests;
end
$$;
comment on function public.apply_capacity_event(
  text, public.capacity_request_event_type, public.capacity_request_actor_type, text, jsonb, integer
) is 'Records an event on a capacity request and returns the request after it.';
