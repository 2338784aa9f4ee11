-- A refund that a person asked for failed and the money came back: it is opened again as they asked for it, twice, and then waits for a
-- person. While another refund of the payment is on its way, it waits for that one. The caller has locked the request.
create or replace function billing.reopen_refund(p_payment billing.payments, p_failed billing.refunds) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_refund billing.refunds := billing.open_refund(p_payment, p_failed.reason, p_failed.amount, p_failed.asked_by, p_failed.why_hash,
    case when not billing.is_tried_again(p_payment.id) then 'person' end);
begin
  perform billing.tell_held(p_payment, v_refund);
end
$$;
comment on function billing.reopen_refund(billing.payments, billing.refunds) is 'Opens a failed refund of a person''s again.';
