-- Stores the charge of a payment as soon as an object of Stripe's names both: people look payments up by it.
create or replace function billing.note_charge(p_object jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_charge text := p_object ->> 'charge';
  v_payment billing.payments;
begin
  if v_charge is null then
    return;
  end if;
  select p.* into v_payment from billing.payments p where p.payment_intent = p_object ->> 'payment_intent' and p.charge_id is null;
  if v_payment.id is not null then
    perform billing.lock_request(v_payment.request_id);
    update billing.payments p set charge_id = v_charge where p.id = v_payment.id;
  end if;
end
$$;
comment on function billing.note_charge(jsonb) is 'Stores the charge of the payment that an object of Stripe''s names.';
