-- Tells people when a dispute changes: that the bank inquires, that a dispute or an appeal has to be answered in Stripe, and how it ended.
create or replace function billing.tell_dispute(p_payment billing.payments, p_before billing.disputes, p_dispute jsonb, p_outcome text)
returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_words text := billing.amount_words(p_payment.currency, (p_dispute ->> 'amount')::bigint);
  v_used boolean := p_payment.counts and exists (select from capacity.requests r where r.id = p_payment.request_id
                                                    and r.state in ('PROVISIONING', 'COMPLETED'));
  v_asks boolean := starts_with(p_dispute ->> 'status', 'warning');
  v_appealed boolean := starts_with(p_dispute ->> 'status', 'appeal');
begin
  if p_before.outcome is distinct from p_outcome or starts_with(p_before.status, 'warning') and not v_asks
     or v_appealed and not starts_with(p_before.status, 'appeal') then
    perform billing.tell(p_payment.request_id, case
      when p_outcome = 'won' and v_asks then format('The bank''s inquiry about %s has ended; nothing was taken.', v_words)
      when p_outcome = 'won' then format('The dispute about %s ended in our favour.', v_words)
      when p_outcome = 'lost' then format(
        'The dispute about %s is lost: the money stays with the customer, and is treated as refunded.%s', v_words,
        case when v_used then ' The capacity is not stopped: an operator decides what happens to it.' else '' end)
      when v_appealed then format('The dispute about %s continues: its decision can be appealed. Our refunds wait until that has ended. An '
                                  'operator answers it in Stripe.', v_words)
      when v_asks then format('The customer''s bank inquires about the payment of %s, and may take it back. Our refunds wait until that '
                              'has ended. An operator answers it in Stripe.', v_words)
      else format('The customer disputes the payment of %s with their bank. Our refunds wait until it has ended. An operator answers '
                  'it in Stripe.', v_words) end, p_outcome <> 'won');
  end if;
end
$$;
comment on function billing.tell_dispute(billing.payments, billing.disputes, jsonb, text)
  is 'Tells people about a dispute and how it ended. Nullable: p_before.';
