-- Why a member may not refund a payment now, or null: all that is left (p_amount is null), or a part of it. A refund that waits for a
-- person does not count, because the new one replaces it. p_left is the remaining amount that they saw.
create or replace function billing.refund_refusal(p_payment billing.payments, p_member_id text, p_amount bigint, p_left bigint)
returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal headroom.refusal := billing.operator_refusal(p_payment.workspace_id, p_member_id, 'refunds a payment');
  v_replaced uuid := (select r.id from billing.refunds r
                       where r.payment_id = p_payment.id and r.state = 'held' and r.held_by = 'person' order by r.created_at limit 1);
  v_left bigint := billing.left_of(p_payment.id, v_replaced);
  v_problem text := billing.amount_problem(p_payment.currency, coalesce(p_amount, v_left));
begin
  if v_refusal.code is not null then
    return v_refusal;
  elsif billing.is_disputed(p_payment.id) then
    return row('conflict', 'The customer disputes this payment with their bank: a refund might pay it back twice.', p_payment.id::text,
               'Answer the dispute in Stripe first. Nothing was changed.')::headroom.refusal;
  elsif p_left <> v_left then
    return row('conflict', format('Of this payment %s is left, not %s: something was refunded in the meantime.',
                                  billing.amount_words(p_payment.currency, v_left), billing.amount_words(p_payment.currency, p_left)),
               p_payment.id::text, 'Look at it again: headroom payments show. Nothing was changed.')::headroom.refusal;
  elsif v_left = 0 then
    return row('conflict', 'Nothing is left of this payment to refund.', p_payment.id::text, 'Nothing was changed.')::headroom.refusal;
  elsif p_amount is not null and p_amount not between 1 and v_left then
    return row('invalid_input', format('From 1 to %s can be refunded, in minor units.', v_left), p_amount::text,
               'Nothing was changed.')::headroom.refusal;
  elsif v_problem is not null then
    return row('invalid_input', v_problem, coalesce(p_amount, v_left)::text, 'Nothing was changed.')::headroom.refusal;
  elsif billing.is_refunding(p_payment.id, v_replaced) then
    return row('conflict', 'A refund of this payment is under way.', p_payment.id::text,
               'Look at it again when that has ended. Nothing was changed.')::headroom.refusal;
  end if;
  return null;
end
$$;
comment on function billing.refund_refusal(billing.payments, text, bigint, bigint)
  is 'Why a member may not refund a payment now. Nullable: p_amount, p_left, result.';
