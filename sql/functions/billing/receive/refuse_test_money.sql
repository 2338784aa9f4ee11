-- Ignores what Stripe's test mode reports to a live installation. A payment there becomes a finding, once, because the customer believes
-- that they have paid. Payments recorded while the installation itself was in test mode are already known.
create or replace function billing.refuse_test_money(p_object jsonb, p_event_id text, p_at timestamptz) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request_id text := billing.request_of(p_object);
  v_renewal boolean := p_object ->> 'object' = 'invoice';
  -- The first invoice is paid by its session, which is reported separately.
  v_paid boolean := coalesce(case
    when v_renewal then p_object ->> 'status' = 'paid' and p_object ->> 'billing_reason' <> 'subscription_create'
    else p_object ->> 'payment_status' in ('paid', 'no_payment_required') end, false);
begin
  if v_request_id is null or not v_paid then
    return billing.outcome('ignored', v_request_id);
  end if;
  perform billing.lock_request(v_request_id);
  if exists (select from billing.payments p where p.session_id = p_object ->> 'id' or p.invoice_id = p_object ->> 'id') then
    return billing.outcome('known', v_request_id);
  end if;
  if not v_renewal then
    -- The page has ended unpaid.
    perform billing.move_checkout(c, 'EXPIRED', p_at) from billing.checkouts c where c.id = (billing.find_session(p_object)).checkout_id;
  end if;
  return billing.record_finding('test_payment', p_object ->> 'id', v_request_id,
    case when v_renewal then 'A renewal was charged in Stripe''s test mode, which moves no money, and this installation is live.'
         else 'The customer paid in Stripe''s test mode, which moves no money, and this installation is live.' end, p_event_id);
end
$$;
comment on function billing.refuse_test_money(jsonb, text, timestamptz) is 'Refuses money of the test mode and returns the outcome.';
