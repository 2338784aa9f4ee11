-- What both entrances for decisions do: establishes who acts, gives the event to the reducer, and says who decided, this call or an
-- earlier one. Members who may not read the request are told that there is no such request; a repeat is answered to those who may read it.
--
-- One look-up brings all that an answer needs: who acts, the customer, and what deliveries left behind; the archive is asked when
-- somebody was reached only if anybody was.
create or replace function capacity.decide(
  p_request_id text,
  p_event_type public.capacity_request_event_type,
  p_actor_type public.capacity_request_actor_type,
  p_actor_id text,
  p_payload jsonb,
  p_expected_version integer,
  out request capacity.requests,
  out repeated boolean,
  out counts boolean,
  out decided_by text,
  out decided_at timestamptz,
  out customer_ref jsonb,
  out slack_thread_ts text,
  out linear_issue_id text,
  out last_notified_at timestamptz
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_known record;
  v_caller record;
  v_actor capacity.actor;
  v_answer record;
begin
  if p_event_type is null then
    perform headroom.fail('invalid_input', 'Give the event to record.');
  end if;
  v_caller := directory.caller();
  -- Of another workspace's request no more is looked at than of one that does not exist.
  select r.workspace_id, d.customer_ref, m.id as member_id, c.value as thread_ts, i.value as issue_id
    into v_known
    from capacity.requests r
    left join capacity.personal_data d on d.request_id = r.id
    left join directory.members m on m.workspace_id = r.workspace_id and m.id = p_actor_id and m.active
    left join capacity.request_captures c on c.request_id = r.id and c.name = 'slack_thread_ts'
    left join capacity.request_captures i on i.request_id = r.id and i.name = 'linear_issue_id'
   where r.id = p_request_id and r.workspace_id = coalesce(v_caller.workspace_id, r.workspace_id);
  -- Somebody who is not signed in is told that, and nothing about what exists.
  if v_known.workspace_id is null and v_caller.kind <> 'anon' then
    perform capacity.no_such_request(p_request_id);
  elsif v_caller.kind = 'member' then
    perform capacity.lock_readable(p_request_id, v_caller.workspace_id, v_caller.member_id);
  end if;
  if v_caller.kind in ('service', 'sql') and p_actor_type = 'user' and v_known.member_id is not null
    and p_actor_id !~ '^[UW][A-Z0-9]{2,31}$' then
    -- What acting() would answer, without asking for the member again.
    v_actor := row('user', v_known.member_id, v_caller.via)::capacity.actor;
  else
    v_actor := capacity.acting(p_actor_type, p_actor_id, v_known.workspace_id);
  end if;

  v_answer := capacity.apply(p_request_id, p_event_type, v_actor, p_payload, p_expected_version);
  request := v_answer.request;
  repeated := v_answer.repeated;
  if repeated and not capacity.may_read(request, v_actor.id) then
    perform headroom.fail('not_allowed', 'This was already decided, and you may not see it.', p_request_id);
  end if;
  -- An endorsement is the one decision that leaves the matter open.
  counts := p_event_type <> 'COMMERCIAL_APPROVED' or request.commercial_approved_at is not null;
  decided_by := case when repeated then v_answer.decided_by else v_actor.id end;
  decided_at := case when repeated then v_answer.decided_at else request.updated_at end;

  customer_ref := v_known.customer_ref;
  slack_thread_ts := v_known.thread_ts;
  linear_issue_id := v_known.issue_id;
  -- A thread tells that something was delivered. What this event sends has reached nobody yet.
  last_notified_at := case when v_known.thread_ts is not null
                             then capacity.last_delivery(request.id, request.version - (not repeated)::integer)
                           else capacity.last_notified_at(request.id, request.version) end;
end
$$;
comment on function capacity.decide(text, public.capacity_request_event_type, public.capacity_request_actor_type, text, jsonb, integer)
  is 'Records an event for the caller and says who decided. Nullable: customer_ref, slack_thread_ts, linear_issue_id, last_notified_at.';
