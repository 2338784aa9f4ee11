-- Sets the amounts of held refunds. If the whole payment has to be refunded, a held refund is what is left of it; if a person asked for an
-- amount, it is at most what is left. Other money may have gone back, or come back to us, in the meantime. If nothing is left, held refunds
-- end.
create or replace function billing.fit_held(p_payment_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_refund billing.refunds;
  v_left bigint;
begin
  for v_refund in
    select r.* from billing.refunds r
     where r.payment_id = p_payment_id and r.origin = 'ours' and r.state = 'held' order by r.created_at, r.id
  loop
    v_left := billing.left_of(p_payment_id, v_refund.id);
    if v_left = 0 then
      update billing.refunds r set state = 'superseded', held_by = null, next_look_at = null, updated_at = clock_timestamp()
       where r.id = v_refund.id;
    elsif v_left < v_refund.amount or v_refund.reason <> 'person' and v_left > v_refund.amount then
      update billing.refunds r set amount = v_left, updated_at = clock_timestamp() where r.id = v_refund.id;
    end if;
  end loop;
end
$$;
comment on function billing.fit_held(uuid) is 'Sets held refunds to what is left of their payment.';
