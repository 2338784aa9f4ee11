-- Begins a refund of a payment: what is left of it, or the amount that somebody named. Null when nothing is left, or another refund of ours
-- is under way: the next one knows what that one brought back. p_held_by has it wait, whatever we know. The caller has locked the request.
create or replace function billing.refund(
  p_payment billing.payments, p_reason text, p_amount bigint default null, p_asked_by text default 'system', p_why text default null,
  p_held_by text default null
) returns billing.refunds
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_left bigint := billing.left_of(p_payment.id);
  v_refund billing.refunds;
begin
  if v_left = 0 or exists (select from billing.refunds r where r.payment_id = p_payment.id and r.origin = 'ours'
                              and r.state in ('held', 'sent', 'pending')) then
    return null;
  end if;
  insert into billing.refunds (id, workspace_id, request_id, payment_id, origin, reason, currency, amount, state, held_by, asked_by,
                               why_hash, next_look_at)
  values (gen_random_uuid(), p_payment.workspace_id, p_payment.request_id, p_payment.id, 'ours', p_reason, p_payment.currency,
          least(coalesce(p_amount, v_left), v_left), 'held',
          coalesce(p_held_by, case when billing.is_disputed(p_payment.id) then 'dispute' else 'payment_intent' end), p_asked_by,
          case when p_why is not null then capacity.put_free_text(p_payment.request_id, to_jsonb(p_why)) end,
          clock_timestamp() + interval '1 day')
  returning * into v_refund;
  return case when p_held_by is null then coalesce(billing.release_refund(p_payment.id), v_refund) else v_refund end;
end
$$;
comment on function billing.refund(billing.payments, text, bigint, text, text, text)
  is 'Begins a refund. Nullable: p_amount, p_why, p_held_by, result.';
