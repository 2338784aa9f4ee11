-- Sends a payment's held refunds as soon as nothing holds them: no dispute is open, no other refund of ours is on its way, and the
-- payment's id at Stripe is known. They go one after the other, oldest first. The amount is decided when a refund is sent; until then the
-- row shows what it would be now. A refund that waits for a person is left alone. Returns the refund that was sent.
create or replace function billing.release_refund(p_payment_id uuid) returns billing.refunds
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_payment billing.payments;
  v_refund billing.refunds;
  v_holds text;
begin
  perform billing.fit_held(p_payment_id);
  select r.* into v_refund from billing.refunds r
   where r.payment_id = p_payment_id and r.origin = 'ours' and r.state = 'held' and r.held_by <> 'person'
   order by r.created_at, r.id limit 1;
  if v_refund.id is null then
    return null;
  end if;
  select p.* into strict v_payment from billing.payments p where p.id = p_payment_id;
  v_holds := case
    when billing.is_disputed(p_payment_id) then 'dispute'
    when exists (select from billing.refunds r where r.payment_id = p_payment_id and r.origin = 'ours' and r.state in ('sent', 'pending'))
      then 'refund'
    when v_payment.payment_intent is null then 'payment_intent' end;
  if v_holds is null then
    v_refund := billing.send_refund(v_payment, v_refund, v_refund.amount);
    v_holds := 'refund';
  else
    v_refund := null;
  end if;
  update billing.refunds r set held_by = v_holds
   where r.payment_id = p_payment_id and r.origin = 'ours' and r.state = 'held' and r.held_by not in ('person', v_holds);
  if v_holds = 'payment_intent' then
    update billing.payments p set next_look_at = least(p.next_look_at, clock_timestamp()) where p.id = p_payment_id;
  end if;
  return v_refund;
end
$$;
comment on function billing.release_refund(uuid) is 'Sends a held refund that nothing holds any more. Nullable: result.';
