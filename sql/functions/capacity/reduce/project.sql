-- One step of the fold: the request after an event, computed from the request before it and the event alone. The reducer writes what
-- this returns, and verification folds the log with it, so the two cannot drift apart. It reads nothing and raises
-- nothing. Twenty-four hours for a day is deliberate: a day of an interval would depend on the session's time zone.
create or replace function capacity.project(p_request capacity.requests, p_event capacity.events) returns capacity.requests
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_next capacity.requests := p_request;
  v_fields jsonb := p_event.payload;
  v_entered boolean := p_event.state_after <> p_event.state_before;
begin
  if p_event.event_type = 'REQUEST_SUBMITTED' then
    -- The terms and the decisions made with them, by column name. The hash is stored as digits only.
    v_next := jsonb_populate_record(v_next, v_fields);
    v_next.customer_hash := decode(v_fields ->> 'customer_hash', 'hex');
    v_next.id := p_event.request_id;
    v_next.version := 0;
    v_next.created_at := p_event.created_at;
  elsif p_event.event_type = 'COMMERCIAL_APPROVED' then
    if v_fields -> 'counts' = 'false' then
      -- The first endorsement is shown; later ones are only in the log.
      v_next.commercial_endorsed_by := case when p_request.commercial_endorsed_at is null then p_event.actor_id
                                            else p_request.commercial_endorsed_by end;
      v_next.commercial_endorsed_at := coalesce(p_request.commercial_endorsed_at, p_event.created_at);
    else
      v_next.commercial_approved_at := p_event.created_at;
      v_next.commercial_approved_by := p_event.actor_id;
    end if;
  elsif p_event.event_type = 'TECH_REVIEW_APPROVED' then
    v_next.technical_approved_at := p_event.created_at;
    v_next.technical_approved_by := p_event.actor_id;
  elsif p_event.event_type in ('COMMERCIAL_REJECTED', 'TECH_REVIEW_REJECTED') then
    v_next.rejection_reason_hash := decode(v_fields ->> 'reason_hash', 'hex');
  elsif p_event.event_type = 'CANCEL_APPROVED' then
    v_next.cancellation_reason_hash := decode(v_fields ->> 'reason_hash', 'hex');
    v_next.cancellation_authorizer_user_id := p_event.actor_id;
  elsif p_event.event_type = 'CUSTOMER_DECLINED' then
    v_next.cancellation_reason_hash := decode(v_fields ->> 'reason_hash', 'hex');
  end if;

  v_next.version := v_next.version + 1;
  v_next.state := p_event.state_after;
  v_next.updated_at := p_event.created_at;
  if v_entered then
    v_next.state_since := p_event.created_at;
    v_next.next_deadline_at := null;
    if p_event.state_after = 'CUSTOMER_CONFIRMATION_REQUIRED' then
      v_next.next_deadline_at := p_event.created_at + make_interval(hours => 24 * v_next.confirmation_ttl_days);
      v_next.confirmation_token_id := (v_fields ->> 'confirmation_token_id')::uuid;
    end if;
  end if;
  v_next.head_hash := p_event.hash;
  return v_next;
end
$$;
comment on function capacity.project(capacity.requests, capacity.events) is 'The request after an event: one step of the fold.';
