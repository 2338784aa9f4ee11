-- A person refunds money: an operator or an admin, with a reason, all that is left or a part of it. The new refund replaces one that waits
-- for a person; a person cannot refund while one is on its way.
create or replace function billing.refund_by_person(
  p_payment billing.payments, p_actor capacity.actor, p_reason text, p_amount bigint, p_left bigint
) returns billing.refunds
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
  v_refund billing.refunds;
begin
  perform headroom.refuse(billing.operator_refusal(p_payment.workspace_id, p_actor.id, 'refunds a payment'));
  v_reason := headroom.reason_in(p_reason);
  perform billing.lock_request(p_payment.request_id);
  update billing.refunds r set state = 'superseded', held_by = null, next_look_at = null, updated_at = clock_timestamp()
   where r.payment_id = p_payment.id and r.state = 'held' and r.held_by = 'person';
  perform headroom.refuse(billing.refund_refusal(p_payment, p_actor.id, p_amount, p_left));
  perform capacity.count_act(p_payment.request_id, p_actor);
  v_refund := billing.refund(p_payment, 'person', p_amount, p_actor.id, v_reason);
  perform billing.tell(p_payment.request_id, format('%s refunds %s.', provisioning.name_of(p_payment.workspace_id, p_actor.id),
    billing.amount_words(v_refund.currency, v_refund.amount)), p_quoted => v_reason);
  return v_refund;
end
$$;
comment on function billing.refund_by_person(billing.payments, capacity.actor, text, bigint, bigint)
  is 'Refunds a payment for a person. Nullable: p_amount, p_left.';
