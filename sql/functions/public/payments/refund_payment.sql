-- Refunds a customer: for operators and admins, with a reason. Refunds all that is left, or a part of it in minor units. p_left is
-- the remaining amount that the caller saw: with it a repeated call refunds once.
create or replace function public.refund_payment(
  p_payment_id text, p_reason text, p_amount bigint default null, p_actor_id text default null, p_left bigint default null
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_payment billing.payments := billing.payment_in_reach(p_payment_id);
begin
  perform billing.refund_by_person(v_payment, capacity.acting('user', p_actor_id, v_payment.workspace_id), p_reason, p_amount, p_left);
  return billing.payment_json(v_payment);
end
$$;
comment on function public.refund_payment(text, text, bigint, text, bigint) is 'Refunds a payment, or a part of it.';
