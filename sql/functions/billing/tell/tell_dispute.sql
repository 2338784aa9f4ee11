-- Tells how a dispute stands, when that is news: that there is one, which somebody has to answer in Stripe, and how it ended.
create or replace function billing.tell_dispute(p_payment billing.payments, p_before billing.disputes, p_dispute jsonb, p_outcome text)
returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_words text := billing.amount_words(p_payment.currency, billing.amount_in(p_dispute -> 'amount'));
begin
  if p_before.outcome is distinct from p_outcome then
    perform billing.tell(p_payment.request_id, case p_outcome
      when 'won' then format('The dispute about %s ended in our favour.', v_words)
      when 'lost' then format('The dispute about %s is lost: the money stays with the customer, and counts as refunded.', v_words)
      else format('The customer disputes the payment of %s with their bank. Refunds by us wait until it has ended. An operator answers '
                  'it in Stripe.', v_words) end, p_outcome <> 'won');
  end if;
end
$$;
comment on function billing.tell_dispute(billing.payments, billing.disputes, jsonb, text)
  is 'Tells of a dispute and how it ended. Nullable: p_before.';
