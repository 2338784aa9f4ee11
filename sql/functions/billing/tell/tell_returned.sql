-- Money that was to be refunded is with us again: the bank returned it, or somebody cancelled the refund at Stripe. Says who handles it
-- now.
create or replace function billing.tell_returned(p_payment billing.payments, p_refund billing.refunds, p_state text, p_why text)
returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_words text := billing.amount_words(p_refund.currency, p_refund.amount);
begin
  perform billing.tell(p_payment.request_id, concat_ws(' ',
    case p_state when 'cancelled' then format('The refund of %s was cancelled in Stripe, and the money stays with us.', v_words)
                 else format('The refund of %s failed, and the money came back to us.', v_words) end,
    case when p_state = 'cancelled' and p_payment.refund_reason is null then 'It is not made again automatically: an operator decides.'
         when p_state = 'cancelled' then null
         when p_payment.refund_reason is null and p_refund.origin = 'outside' then 'An operator sees to it.'
         when billing.is_tried_again(p_payment.id) then 'It is opened again.' end), true, p_why);
end
$$;
comment on function billing.tell_returned(billing.payments, billing.refunds, text, text)
  is 'Says that a refund failed. Nullable: p_why.';
