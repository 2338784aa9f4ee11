-- Opens a refund of a payment, of at most what is left of it, and sends it unless something holds it. p_held_by holds it in any case. Null
-- when nothing is left. The caller has locked the request.
create or replace function billing.open_refund(
  p_payment billing.payments, p_reason text, p_amount bigint, p_asked_by text, p_why_hash bytea, p_held_by text
) returns billing.refunds
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_left bigint := billing.left_of(p_payment.id);
  v_refund billing.refunds;
begin
  if v_left = 0 then
    return null;
  end if;
  insert into billing.refunds (id, workspace_id, request_id, payment_id, origin, reason, currency, amount, state, held_by, asked_by,
                               why_hash, next_look_at)
  values (gen_random_uuid(), p_payment.workspace_id, p_payment.request_id, p_payment.id, 'ours', p_reason, p_payment.currency,
          least(coalesce(p_amount, v_left), v_left), 'held',
          coalesce(p_held_by, case when billing.is_disputed(p_payment.id) then 'dispute' else 'payment_intent' end), p_asked_by,
          p_why_hash, clock_timestamp() + interval '1 day')
  returning * into v_refund;
  if p_held_by is null then
    perform billing.release_refund(p_payment.id);
    select r.* into v_refund from billing.refunds r where r.id = v_refund.id;
  end if;
  return v_refund;
end
$$;
comment on function billing.open_refund(billing.payments, text, bigint, text, bytea, text)
  is 'Opens a refund. Nullable: p_amount, p_why_hash, p_held_by, result.';
