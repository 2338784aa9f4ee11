-- The event that a button or a word means, and whether a reason is asked for first.
create or replace function inbound.action_event(p_action text, out event_type public.capacity_request_event_type, out asks_why boolean)
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  event_type := case p_action
    when 'commercial_approve' then 'COMMERCIAL_APPROVED' when 'commercial_reject' then 'COMMERCIAL_REJECTED'
    when 'tech_approve' then 'TECH_REVIEW_APPROVED' when 'tech_reject' then 'TECH_REVIEW_REJECTED'
    when 'customer_confirm' then 'CUSTOMER_CONFIRMED' when 'customer_decline' then 'CUSTOMER_DECLINED'
    when 'cancel' then 'CANCEL_APPROVED' end;
  asks_why := p_action in ('commercial_reject', 'tech_reject', 'customer_decline', 'cancel');
end
$$;
comment on function inbound.action_event(text) is 'The event behind a button. Nullable: event_type, asks_why.';
