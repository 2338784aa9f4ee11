-- A payment that was being processed has failed. While the offer is open the customer may pay again, and is asked to, unless another
-- payment of theirs is on its way. If the offer has ended, people are told, because they knew of the payment.
create or replace function billing.tell_failed(p_request capacity.requests) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_waiting boolean := p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED';
  v_stands boolean := v_waiting and p_request.next_deadline_at > clock_timestamp();
  v_payable boolean := billing.can_be_paid(p_request);
begin
  perform billing.tell(p_request.id, concat_ws(' ', 'The customer''s payment failed, and nothing was charged.', case
    when v_payable then 'They can pay again with the same link.'
    when v_waiting and not v_stands then 'The time to answer has passed, so the request expires.' end),
    v_payable, p_kind => case when v_payable then 'payment_failed' else 'payment' end);
end
$$;
comment on function billing.tell_failed(capacity.requests) is 'Says that a payment failed, and asks the customer to pay again.';
