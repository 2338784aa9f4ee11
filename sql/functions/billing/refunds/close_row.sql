-- Stripe has made a refund whose row was given up before we knew: the row is ended, because it would block the payment's lane, and with it
-- the payment's other refunds. If somebody holds the lane right now, the next check does it.
create or replace function billing.close_row(p_refund billing.refunds) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_why constant text := 'Stripe reports this refund.';
  v_uncertain boolean := (select d.uncertain from outbox.dead_letters d where d.outbox_id = p_refund.outbox_id);
begin
  if v_uncertain then
    perform outbox.resolve_dead(p_refund.outbox_id, true, 'billing', v_why, p_refund.stripe_id);
  elsif v_uncertain is not null then
    perform from outbox.skip(array[p_refund.outbox_id], 'billing', v_why);
  end if;
end
$$;
comment on function billing.close_row(billing.refunds) is 'Ends the row of a refund that was given up although Stripe has made it.';
