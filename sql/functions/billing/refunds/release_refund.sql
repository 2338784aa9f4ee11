-- Sends the refund of a payment that was held, as soon as nothing holds it any more: no dispute is open, and the payment's id at Stripe
-- is known. How much goes back is decided when it is sent: all that is left where everything has to go back, and what somebody asked for
-- as far as it is left. Until then the refund says what that would be now; where nothing is left it is set aside, whatever it waits for.
-- One that waits for a person is left to them. Answers the refund if it moved.
create or replace function billing.release_refund(p_payment_id uuid) returns billing.refunds
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_payment billing.payments;
  v_refund billing.refunds;
  v_left bigint;
  v_amount bigint;
begin
  select p.* into strict v_payment from billing.payments p where p.id = p_payment_id;
  select r.* into v_refund from billing.refunds r where r.payment_id = p_payment_id and r.origin = 'ours' and r.state = 'held';
  if v_refund.id is null then
    return null;
  end if;
  v_left := billing.left_of(p_payment_id, v_refund.id);
  if v_left = 0 then
    update billing.refunds r set state = 'superseded', held_by = null, next_look_at = null, updated_at = clock_timestamp()
     where r.id = v_refund.id returning r.* into v_refund;
    return v_refund;
  end if;
  v_amount := case when v_payment.refund_reason is not null then v_left else least(v_refund.amount, v_left) end;
  update billing.refunds r set amount = v_amount where r.id = v_refund.id and r.amount <> v_amount;
  if v_refund.held_by = 'person' or billing.is_disputed(p_payment_id) then
    return null;
  elsif v_payment.payment_intent is null then
    update billing.payments p set next_look_at = least(p.next_look_at, clock_timestamp()) where p.id = p_payment_id;
    update billing.refunds r set held_by = 'payment_intent' where r.id = v_refund.id and r.held_by <> 'payment_intent';
    return null;
  end if;
  return billing.send_refund(v_payment, v_refund, v_amount);
end
$$;
comment on function billing.release_refund(uuid) is 'Sends a held refund that nothing holds any more. Nullable: result.';
