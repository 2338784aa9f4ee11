-- What a payment has bought: one for each request. The requested term counts from the payment.
create or replace function billing.new_subscription(p_request capacity.requests, p_payment billing.payments, p_stripe_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_recurring boolean := p_request.offer ->> 'kind' = 'recurring';
  v_ends timestamptz := p_payment.paid_at + (p_request.offer ->> 'duration_days')::integer * interval '1 day';
begin
  insert into billing.subscriptions (id, workspace_id, request_id, payment_id, kind, stripe_id, starts_at, ends_at, paid_until,
                                     next_look_at)
  values (gen_random_uuid(), p_request.workspace_id, p_request.id, p_payment.id, case when v_recurring then 'recurring' else 'one_off' end,
          p_stripe_id, p_payment.paid_at, v_ends, case when v_recurring then p_payment.paid_at + interval '1 month' else v_ends end,
          case when v_recurring then clock_timestamp() + interval '1 day' else v_ends end);
end
$$;
comment on function billing.new_subscription(capacity.requests, billing.payments, text)
  is 'Records what a payment has bought. Nullable: p_stripe_id.';
