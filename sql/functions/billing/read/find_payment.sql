-- A payment by its id, or by its id at Stripe; null where there is none.
create or replace function billing.find_payment(p_id text) returns billing.payments
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_payment billing.payments;
begin
  if p_id ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
    select p.* into v_payment from billing.payments p where p.id = p_id::uuid;
  else
    select p.* into v_payment from billing.payments p where p.payment_intent = p_id or p.session_id = p_id or p.invoice_id = p_id limit 1;
  end if;
  return v_payment;
end
$$;
comment on function billing.find_payment(text) is 'A payment by its id, here or at Stripe. Nullable: result.';
