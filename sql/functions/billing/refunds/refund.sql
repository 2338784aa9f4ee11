-- Begins a refund of a payment: of what is left of it, or of a given amount. Null when nothing is left, or while another refund of ours is
-- under way: the next call sees how that one ended. p_held_by holds it in any case. The caller has locked the request.
create or replace function billing.refund(
  p_payment billing.payments, p_reason text, p_amount bigint default null, p_asked_by text default 'system', p_why text default null,
  p_held_by text default null
) returns billing.refunds
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if billing.left_of(p_payment.id) = 0 or billing.is_refunding(p_payment.id) then
    return null;
  end if;
  return billing.open_refund(p_payment, p_reason, p_amount, p_asked_by,
    case when p_why is not null then capacity.put_free_text(p_payment.request_id, to_jsonb(p_why)) end, p_held_by);
end
$$;
comment on function billing.refund(billing.payments, text, bigint, text, text, text)
  is 'Begins a refund. Nullable: p_amount, p_why, p_held_by, result.';
