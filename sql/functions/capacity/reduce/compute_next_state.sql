-- The state machine: pure and total. Any combination either has a next state or is refused by one named error; the flags
-- say how the approvals stand after the event, and an unknown flag is not an approval.
create or replace function capacity.compute_next_state(
  p_state public.capacity_request_state,
  p_event_type public.capacity_request_event_type,
  p_commercial_done boolean,
  p_technical_done boolean
) returns public.capacity_request_state
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_state = 'UNDER_REVIEW' then
    if p_event_type in ('COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED') then
      if p_commercial_done and p_technical_done then
        return 'CUSTOMER_CONFIRMATION_REQUIRED';
      end if;
      return 'UNDER_REVIEW';
    elsif p_event_type in ('COMMERCIAL_REJECTED', 'TECH_REVIEW_REJECTED') then
      return 'REJECTED';
    elsif p_event_type = 'CANCEL_APPROVED' then
      return 'CANCELLED';
    end if;
  elsif p_state = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    if p_event_type = 'CUSTOMER_CONFIRMED' then
      return 'PROVISIONING';
    elsif p_event_type in ('CUSTOMER_DECLINED', 'CANCEL_APPROVED') then
      return 'CANCELLED';
    elsif p_event_type = 'CUSTOMER_CONFIRMATION_TIMEOUT' then
      return 'EXPIRED';
    end if;
  elsif p_state = 'PROVISIONING' then
    if p_event_type = 'PROVISIONING_COMPLETE' then
      return 'COMPLETED';
    elsif p_event_type = 'PROVISIONING_FAILED' then
      return 'FAILED';
    elsif p_event_type = 'CANCEL_APPROVED' then
      return 'CANCELLED';
    end if;
  elsif p_state = 'SUBMITTED' then
    if p_event_type = 'REQUEST_SUBMITTED' then
      return 'UNDER_REVIEW';
    elsif p_event_type = 'CANCEL_APPROVED' then
      return 'CANCELLED';
    end if;
  end if;
  perform headroom.fail('invalid_transition',
    format('A request in state %s does not take the event %s.', coalesce(p_state::text, 'null'), coalesce(p_event_type::text, 'null')),
    format('state %s, event %s', coalesce(p_state::text, 'null'), coalesce(p_event_type::text, 'null')),
    'Read the request again: somebody may have decided meanwhile. Nothing was changed.');
end
$$;
comment on function capacity.compute_next_state(public.capacity_request_state, public.capacity_request_event_type, boolean, boolean)
  is 'The state after an event, or the error invalid_transition.';
