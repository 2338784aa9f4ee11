-- A session that is complete and unpaid does not say whether the payment is still on its way or has failed. The payment or subscription
-- behind it does, so Stripe is asked about that.
create or replace function billing.look_behind(p_checkout billing.checkouts, p_session jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text := case p_checkout.mode when 'subscription' then 'subscription' else 'payment_intent' end;
  v_id text := p_session ->> v_kind;
begin
  if v_id is not null and p_checkout.state in ('processing', 'abandoned') then
    perform billing.look(p_checkout.workspace_id, v_kind, v_id, p_checkout.looks);
  end if;
end
$$;
comment on function billing.look_behind(billing.checkouts, jsonb) is 'Asks about the payment behind an unpaid session.';
