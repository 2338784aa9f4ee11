-- A payment that was being processed has failed: the customer may pay again while the offer stands. Where it does not, people had been told
-- that money was on its way.
create or replace function billing.tell_failed(p_request capacity.requests) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform billing.tell(p_request.id, concat_ws(' ', 'The customer''s payment failed, and nothing was charged.', case
    when p_request.state <> 'CUSTOMER_CONFIRMATION_REQUIRED' then null
    when p_request.next_deadline_at > clock_timestamp() then 'They can pay again with the same link.'
    else 'The time for an answer is over, so the request expires.' end),
    p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' and p_request.next_deadline_at > clock_timestamp());
end
$$;
comment on function billing.tell_failed(capacity.requests) is 'Tells that a payment failed.';
