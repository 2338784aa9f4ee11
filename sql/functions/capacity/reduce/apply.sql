-- The reducer: the only writer of requests and events. Every entrance establishes who acts and then calls this; nobody else
-- may. In one transaction it locks the request, asks whether this was decided already, asks authorize(), computes the next
-- state, appends the event, writes the projection, and enqueues the side effects that the event names.
--
-- A repeat of a decision is answered before all else, in every state: nothing changes, and the answer says who decided when.
-- The row lock is what makes numbers gapless and lets two approvals at the same instant lead to one confirmation.
create or replace function capacity.apply(
  p_request_id text,
  p_event_type public.capacity_request_event_type,
  p_actor capacity.actor,
  p_payload jsonb,
  p_expected_version integer default null,
  out request capacity.requests,
  out repeated boolean,
  out decided_by text,
  out decided_at timestamptz
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_before capacity.requests;
  v_event capacity.events;
  v_payload jsonb;
  v_told integer;
  v_verdict record;
begin
  select * into v_before from capacity.requests r where r.id = p_request_id for update;
  if not found then
    perform capacity.no_such_request(p_request_id);
  end if;

  if p_event_type = 'COMMERCIAL_APPROVED' then
    decided_by := v_before.commercial_approved_by;
    decided_at := v_before.commercial_approved_at;
  elsif p_event_type = 'TECH_REVIEW_APPROVED' then
    decided_by := v_before.technical_approved_by;
    decided_at := v_before.technical_approved_at;
  elsif v_before.version > 0 then
    select e.actor_id, e.created_at into decided_by, decided_at
      from capacity.events e where e.request_id = v_before.id and e.event_type = p_event_type order by e.seq limit 1;
  end if;
  repeated := decided_at is not null;
  if repeated then
    request := v_before;
    return;
  end if;

  v_verdict := capacity.authorize(p_actor, v_before, p_event_type);
  if v_verdict.allowed is not true then
    perform headroom.fail(v_verdict.code, v_verdict.reason, v_before.id, 'Nothing was changed.');
  end if;
  if not v_verdict.counts and v_before.commercial_endorsed_at is not null then
    select e.actor_id, e.created_at into decided_by, decided_at
      from capacity.events e
     where e.request_id = v_before.id and e.event_type = p_event_type and e.actor_id = p_actor.id and e.payload -> 'counts' = 'false'
       limit 1;
    repeated := found;
    if repeated then
      request := v_before;
      return;
    end if;
  end if;
  if p_expected_version <> v_before.version then
    perform headroom.fail('stale_version', 'The request has changed since you looked at it.',
      format('version %s, expected %s', v_before.version, p_expected_version),
      'Read it again, and decide on what it says now. Nothing was changed.');
  end if;

  v_payload := coalesce(p_payload, '{}');
  -- What is submitted was made by submit() itself; an empty payload has nothing to check unless a reason is due.
  if p_event_type <> 'REQUEST_SUBMITTED'
     and (v_payload <> '{}' or p_event_type in ('COMMERCIAL_REJECTED', 'TECH_REVIEW_REJECTED', 'CANCEL_APPROVED')) then
    perform capacity.check_payload(p_event_type, v_payload, p_actor.type);
    if v_payload ?| '{reason,error}' then
      v_payload := capacity.set_aside(v_before.id, v_payload);
    end if;
  end if;
  if not v_verdict.counts then
    v_payload := v_payload || '{"counts": false}';
  elsif p_actor.type = 'user' and p_event_type in ('CUSTOMER_CONFIRMED', 'CUSTOMER_DECLINED') then
    v_payload := v_payload || '{"on_behalf_of": "customer"}';
  end if;
  -- In the order of the table's columns, and at once: an assignment per field took longer than the rest of the bookkeeping.
  v_event := row(
    v_before.id, v_before.version + 1, gen_random_uuid(), p_event_type, p_actor.type, p_actor.id, p_actor.via, v_before.state,
    capacity.compute_next_state(v_before.state, p_event_type,
      v_before.commercial_approved_at is not null or p_event_type = 'COMMERCIAL_APPROVED' and v_verdict.counts,
      v_before.technical_approved_at is not null or p_event_type = 'TECH_REVIEW_APPROVED'),
    v_payload, null, greatest(clock_timestamp(), v_before.updated_at), null, v_before.workspace_id);

  request := capacity.project(v_before, v_event);
  if v_event.state_after = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    request.confirmation_token_id := capacity.new_confirmation_token(v_before.id, request.next_deadline_at);
    v_event.payload := v_event.payload || jsonb_build_object('confirmation_token_id', request.confirmation_token_id);
  end if;
  v_event.effects := coalesce(capacity.effects_of(request, p_event_type, v_before.state, p_actor.id), '{}');
  v_event.hash := capacity.event_hash(v_before.head_hash, v_event);
  request.head_hash := v_event.hash;

  insert into capacity.events values (v_event.*);
  -- The terms never change: they stand in the row since it was inserted.
  update capacity.requests r
     set version = request.version, state = request.state, created_at = request.created_at, updated_at = request.updated_at,
         state_since = request.state_since, commercial_endorsed_at = request.commercial_endorsed_at,
         commercial_endorsed_by = request.commercial_endorsed_by, commercial_approved_at = request.commercial_approved_at,
         commercial_approved_by = request.commercial_approved_by, technical_approved_at = request.technical_approved_at,
         technical_approved_by = request.technical_approved_by, next_deadline_at = request.next_deadline_at,
         confirmation_token_id = request.confirmation_token_id, rejection_reason_hash = request.rejection_reason_hash,
         cancellation_reason_hash = request.cancellation_reason_hash,
         cancellation_authorizer_user_id = request.cancellation_authorizer_user_id,
         head_hash = request.head_hash
   where r.id = v_before.id;
  if v_before.next_deadline_at <= v_event.created_at then
    delete from capacity.expiry_holds h where h.request_id = v_before.id;
  end if;
  v_told := capacity.dispatch_side_effects(request, v_event);
  assert v_told = cardinality(v_event.effects), 'every side effect has its row';
  if request.state <> v_before.state and 'PROVISIONING' in (request.state, v_before.state) then
    perform headroom.run_hooks('capacity.provisioning_changed', jsonb_build_object(
      'request_id', request.id, 'event', p_event_type, 'state_after', request.state, 'actor', to_jsonb(p_actor),
      'job_id', v_payload -> 'job_id'));
  end if;
  if request.state <> v_before.state and request.state in ('COMPLETED', 'REJECTED', 'CANCELLED', 'EXPIRED', 'FAILED') then
    perform headroom.run_hooks('capacity.closed', jsonb_build_object(
      'request_id', request.id, 'event', p_event_type, 'state_before', v_before.state, 'state_after', request.state,
      'actor', to_jsonb(p_actor)));
  end if;

  if p_event_type = 'REQUEST_SUBMITTED' then
    request := capacity.approve_by_rule(request, p_actor.via);
  end if;
end
$$;
comment on function capacity.apply(text, public.capacity_request_event_type, capacity.actor, jsonb, integer)
  is 'Records an event and everything that follows from it, or answers who decided before. Nullable: decided_by, decided_at.';
