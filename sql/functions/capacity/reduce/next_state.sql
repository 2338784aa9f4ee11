-- The state machine, pure: the state after an event, or null where a request in this state does not take it. The flags give the
-- approvals after the event; an unknown flag is not an approval.
create or replace function capacity.next_state(
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
  return null;
end
$$;
comment on function capacity.next_state(public.capacity_request_state, public.capacity_request_event_type, boolean, boolean)
  is 'The state after an event. Nullable: result.';
