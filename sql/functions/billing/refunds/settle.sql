-- Makes sure that a payment that has to be refunded is: it refunds what is left, and runs again after each change until nothing is left. A
-- refund that fails is opened again twice; after that a person takes over.
create or replace function billing.settle(p_payment_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_payment billing.payments;
  v_refund billing.refunds;
  v_left bigint;
begin
  select p.* into strict v_payment from billing.payments p where p.id = p_payment_id;
  if v_payment.refund_reason is null then
    return;
  end if;
  v_refund := billing.refund(v_payment, v_payment.refund_reason,
                             p_held_by => case when not billing.is_tried_again(p_payment_id) then 'person' end);
  perform billing.tell_held(v_payment, v_refund);
  v_left := billing.left_of(p_payment_id);
  update billing.payments p
     set next_look_at = case when v_left = 0 and p.payment_intent is not null and not billing.is_disputed(p.id)
                               and not exists (select from billing.refunds r where r.payment_id = p.id and r.origin = 'ours'
                                                  and r.state in ('held', 'sent', 'pending')) then null
                             else greatest(p.next_look_at, clock_timestamp() + interval '10 minutes') end
   where p.id = p_payment_id and (p.payment_intent is not null or p.next_look_at is null);
end
$$;
comment on function billing.settle(uuid) is 'Refunds what is left of a payment that has to go back.';
