-- Money was refunded. If the capacity is being provided or runs, and a person has refunded its whole price, people are asked what to do
-- with it: nothing is torn down without a person's decision.
create or replace function billing.tell_refunded(p_payment billing.payments, p_refund billing.refunds) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_words text := billing.amount_words(p_refund.currency, p_refund.amount);
  v_left bigint := billing.left_of(p_payment.id);
  v_state text := (select r.state from capacity.requests r where r.id = p_payment.request_id);
  v_asks boolean := p_payment.counts and p_payment.refund_reason is null and v_left = 0 and v_state in ('PROVISIONING', 'COMPLETED');
begin
  perform billing.tell(p_payment.request_id, concat_ws(' ',
    case when p_refund.origin = 'outside' then format('%s went back to the customer, by a refund in Stripe''s dashboard.', v_words)
         else format('%s went back to the customer: %s.', v_words, billing.reason_words(p_refund.reason)) end,
    case when v_left > 0 then format('%s of the payment is left.', billing.amount_words(p_payment.currency, v_left)) end,
    case when v_asks then 'The capacity is not stopped: an operator decides what happens to it.' end), v_asks, p_kind => 'refund');
end
$$;
comment on function billing.tell_refunded(billing.payments, billing.refunds) is 'Says that money was refunded.';
