-- Finds a payment by any id that people may have: its own id, its receipt number, or any id at Stripe that belongs to it, which is the id
-- of the payment, its charge, session or invoice, of one of its refunds or disputes, or of the subscription that it began. Null if there is
-- no match, or if a receipt number matches two payments.
create or replace function billing.find_payment(p_id text) returns billing.payments
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_uuid uuid := case when p_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then p_id::uuid end;
  v_ids uuid[];
  v_payment billing.payments;
begin
  if v_uuid is not null then
    select array_agg(x.id) into v_ids
      from (select v_uuid as id union select r.payment_id from billing.refunds r where r.id = v_uuid
            union select s.payment_id from billing.subscriptions s where s.id = v_uuid) x
     where exists (select from billing.payments p where p.id = x.id);
  elsif p_id ~* '^[0-9a-f]{12}$' then
    select array_agg(p.id) into v_ids from billing.payments p
     where upper(right(p.id::text, 12) collate "C") = upper(p_id collate "C");
  else
    select array_agg(x.id) into v_ids
      from (select p.id from billing.payments p where p.payment_intent = p_id
            union select p.id from billing.payments p where p.session_id = p_id
            union select p.id from billing.payments p where p.invoice_id = p_id
            union select p.id from billing.payments p where p.charge_id = p_id
            union select r.payment_id from billing.refunds r where r.stripe_id = p_id
            union select d.payment_id from billing.disputes d where d.stripe_id = p_id
            union select s.payment_id from billing.subscriptions s where s.stripe_id = p_id) x;
  end if;
  if cardinality(v_ids) = 1 then
    select p.* into v_payment from billing.payments p where p.id = v_ids[1];
  end if;
  return v_payment;
end
$$;
comment on function billing.find_payment(text) is 'A payment by any id that belongs to it. Nullable: result.';
