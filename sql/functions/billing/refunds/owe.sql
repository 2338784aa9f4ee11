-- Refunds a payment that had counted: the request ended without capacity.
create or replace function billing.owe(p_payment_id uuid, p_reason text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update billing.payments p set refund_reason = coalesce(p.refund_reason, p_reason) where p.id = p_payment_id;
  perform billing.settle(p_payment_id);
end
$$;
comment on function billing.owe(uuid, text) is 'Refunds a payment that had counted.';
