-- A payment that was being processed has failed: the customer may pay again while the offer stands.
create or replace function billing.tell_failed(p_request capacity.requests) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    perform billing.tell(p_request.id, 'The customer''s payment failed, and nothing was charged. '
      || case when p_request.next_deadline_at > clock_timestamp() then 'They can pay again with the same link.'
              else 'The time for an answer is over, so the request expires.' end, p_request.next_deadline_at > clock_timestamp());
  end if;
end
$$;
comment on function billing.tell_failed(capacity.requests) is 'Tells that a payment failed.';
