-- The reducer: the only writer of requests and events. It takes a verdict reached from the same context, appends the event, writes the
-- projection, and enqueues the side effects that the event names, in the caller's transaction and under the request's lock, which
-- makes numbers gapless and lets two approvals at the same instant lead to one confirmation.
--
-- A repeat changes nothing. Any other verdict that is not allowed is refused here, so that no entrance can forget to.
create or replace function capacity.apply(
  p_context capacity.context,
  p_verdict capacity.verdict,
  p_payload jsonb,
  out request capacity.requests,
  out story jsonb
)
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_before capacity.requests := p_context.request;
  v_type public.capacity_request_event_type := p_context.event_type;
  v_actor capacity.actor := p_context.actor;
  v_account text := capacity.account_of(v_actor);
  v_payload jsonb := coalesce(p_payload, '{}');
  v_context capacity.context := p_context;
  v_event capacity.events;
  v_asked jsonb := '[]';
begin
  if p_verdict.repeated then
    request := v_before;
    return;
  elsif p_verdict.allowed is not true then
    perform headroom.fail(p_verdict.code, p_verdict.reason, p_verdict.detail, p_verdict.hint);
  end if;

  if p_verdict.state_after is null then
    -- Who may decide may not always read: an operator before the provisioning is not told who decided what.
    if v_actor.type = 'user' and capacity.may_read(v_before, p_context.standing) then
      perform headroom.refuse(capacity.too_late(v_before));
    end if;
    v_event.state_after := capacity.compute_next_state(v_before.state, v_type, null, null);
  end if;
  -- submit() made the payload of a submission; an empty payload needs a check only where a reason is required.
  if v_type <> 'REQUEST_SUBMITTED'
     and (v_payload <> '{}' or v_type in ('COMMERCIAL_REJECTED', 'TECH_REVIEW_REJECTED', 'CANCEL_APPROVED')) then
    perform capacity.check_payload(v_type, v_payload, v_actor.type);
  end if;
  v_context.demoted := capacity.levels_behind(v_before.workspace_id, v_actor, v_context.acts, v_context.acts_per_hour);
  if v_type <> 'REQUEST_SUBMITTED' and v_payload ?| '{reason,error}' then
    v_payload := capacity.store_free_texts(v_before.id, v_payload);
  end if;
  if not p_verdict.counts then
    v_payload := v_payload || '{"counts": false}';
  elsif v_actor.type = 'user' and v_type in ('CUSTOMER_CONFIRMED', 'CUSTOMER_DECLINED') then
    v_payload := v_payload || '{"on_behalf_of": "customer"}';
  end if;
  -- In the order of the table's columns, in one assignment: one per field took longer than the rest of the bookkeeping.
  v_event := row(
    v_before.id, v_before.version + 1, gen_random_uuid(), v_type, v_actor.type, v_actor.id, v_actor.via, v_before.state,
    p_verdict.state_after, v_payload, null, greatest(clock_timestamp(), v_before.updated_at), null, v_before.workspace_id);

  request := capacity.project(v_before, v_event);
  if v_event.state_after = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    request.confirmation_token_id := capacity.new_confirmation_token(v_before.id, request.next_deadline_at);
    v_event.payload := v_event.payload || jsonb_build_object('confirmation_token_id', request.confirmation_token_id);
  end if;
  v_context.request := request;
  -- An approval that leaves another review open pings nobody: the other reviewers have been asked already.
  if request.state = 'CUSTOMER_CONFIRMATION_REQUIRED'
     or request.state = 'UNDER_REVIEW' and (v_type = 'REQUEST_SUBMITTED' or not p_verdict.counts) then
    v_asked := capacity.asked_people(request);
  end if;
  v_event.effects := capacity.effects_of(v_context, v_before.state, v_asked);
  v_event.hash := capacity.event_hash(v_before.head_hash, v_event);
  request.head_hash := v_event.hash;

  -- The event and what follows from it, in one statement. The terms never change after the row was inserted.
  with appended as (insert into capacity.events values (v_event.*)), counted as (
    insert into capacity.acts (workspace_id, account, at)
    select v_before.workspace_id, v_account, v_context.now where v_account is not null)
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
  story := capacity.dispatch_side_effects(v_context, v_event, v_asked);
  if request.state <> v_before.state and 'PROVISIONING' in (request.state, v_before.state) then
    perform headroom.run_hooks('capacity.provisioning_changed', jsonb_build_object(
      'request_id', request.id, 'event', v_type, 'state_after', request.state, 'actor', to_jsonb(v_actor),
      'job_id', v_payload -> 'job_id'));
  end if;
  if request.state <> v_before.state and request.state in ('COMPLETED', 'REJECTED', 'CANCELLED', 'EXPIRED', 'FAILED') then
    perform headroom.run_hooks('capacity.closed', jsonb_build_object(
      'request_id', request.id, 'event', v_type, 'state_before', v_before.state, 'state_after', request.state,
      'actor', to_jsonb(v_actor)));
  end if;

  if v_type = 'REQUEST_SUBMITTED' then
    request := capacity.approve_by_rule(request, v_actor.via);
  end if;
end
$$;
comment on function capacity.apply(capacity.context, capacity.verdict, jsonb)
  is 'Records an event and everything that follows from it, as it was judged. Nullable: story.';
