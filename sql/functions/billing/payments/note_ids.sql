-- Fills in what was not known when a payment was recorded: its id at Stripe, by which it is refunded, and its invoice. A refund that waited
-- for the id is sent.
create or replace function billing.note_ids(p_payment billing.payments, p_object jsonb) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_intent text := p_object ->> 'payment_intent';
  v_invoice text := p_object ->> 'invoice';
begin
  update billing.payments p
     set payment_intent = coalesce(p.payment_intent, v_intent), invoice_id = coalesce(p.invoice_id, v_invoice)
   where p.id = p_payment.id
     and (p.payment_intent is null and v_intent is not null or p.invoice_id is null and v_invoice is not null);
  if not found then
    return false;
  end if;
  if v_intent is not null and p_payment.payment_intent is null then
    update billing.payments p set next_look_at = case when p.refund_reason is not null then clock_timestamp() end where p.id = p_payment.id;
    perform billing.release_refund(p_payment.id);
    -- Ask for refunds that were reported before this payment was known to be theirs.
    perform billing.look(p_payment.workspace_id, 'refunds', v_intent, 0);
  end if;
  return true;
end
$$;
comment on function billing.note_ids(billing.payments, jsonb) is 'Fills in ids of a payment at Stripe; whether there was anything new.';
