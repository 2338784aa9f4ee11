-- A person refunds money: an operator or an admin, with a reason, all that is left or a part of it. The new refund replaces one that waits
-- for a person; a person cannot refund while one is on its way.
create or replace function billing.refund_by_person(
  p_payment billing.payments, p_actor capacity.actor, p_reason text, p_amount bigint, p_left bigint
) returns billing.refunds
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := billing.operators_reason(p_payment.workspace_id, p_actor, 'refunds a payment', p_reason);
  v_left bigint;
  v_problem text;
  v_refund billing.refunds;
begin
  perform billing.lock_request(p_payment.request_id);
  update billing.refunds r set state = 'superseded', held_by = null, next_look_at = null, updated_at = clock_timestamp()
   where r.payment_id = p_payment.id and r.state = 'held' and r.held_by = 'person';
  v_left := billing.left_of(p_payment.id);
  v_problem := billing.amount_problem(p_payment.currency, coalesce(p_amount, v_left));
  if billing.is_disputed(p_payment.id) then
    perform headroom.fail('conflict', 'The customer disputes this payment with their bank: a refund might pay it back twice.',
      p_payment.id::text, 'Answer the dispute in Stripe first. Nothing was changed.');
  elsif p_left <> v_left then
    perform headroom.fail('conflict', format('Of this payment %s is left, not %s: something was refunded in the meantime.',
      billing.amount_words(p_payment.currency, v_left), billing.amount_words(p_payment.currency, p_left)), p_payment.id::text,
      'Look at it again: headroom payments show. Nothing was changed.');
  elsif v_left = 0 then
    perform headroom.fail('conflict', 'Nothing is left of this payment to refund.', p_payment.id::text, 'Nothing was changed.');
  elsif p_amount is not null and p_amount not between 1 and v_left then
    perform headroom.fail('invalid_input', format('From 1 to %s can be refunded, in minor units.', v_left), p_amount::text,
                          'Nothing was changed.');
  elsif v_problem is not null then
    perform headroom.fail('invalid_input', v_problem, coalesce(p_amount, v_left)::text, 'Nothing was changed.');
  end if;
  perform capacity.count_act(p_payment.request_id, p_actor);
  v_refund := billing.refund(p_payment, 'person', p_amount, p_actor.id, v_reason);
  if v_refund.id is null then
    perform headroom.fail('conflict', 'A refund of this payment is under way.', p_payment.id::text,
                          'Look at it again when that has ended. Nothing was changed.');
  end if;
  perform billing.tell(p_payment.request_id, format('%s refunds %s.', provisioning.name_of(p_payment.workspace_id, p_actor.id),
    billing.amount_words(v_refund.currency, v_refund.amount)), p_quoted => v_reason);
  return v_refund;
end
$$;
comment on function billing.refund_by_person(billing.payments, capacity.actor, text, bigint, bigint)
  is 'Refunds a payment for a person. Nullable: p_amount, p_left.';
