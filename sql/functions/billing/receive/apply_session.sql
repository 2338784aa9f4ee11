-- Applies the state of a Checkout session. Paid is only what Stripe calls paid; a session that is complete and unpaid is being processed,
-- until Stripe says that it failed. If a report comes late or out of order, the checkout has already moved on, and nothing changes.
create or replace function billing.apply_session(p_session jsonb, p_event_id text, p_at timestamptz, p_event_type text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := billing.find_session(p_session);
  v_paid boolean := coalesce(p_session ->> 'payment_status' in ('paid', 'no_payment_required'), false);
  v_request capacity.requests;
  v_checkout billing.checkouts;
  v_moved billing.checkouts;
begin
  if v_found.request_id is null then
    return case when v_paid and billing.is_ours(p_session) then billing.record_finding('unknown_payment', p_session ->> 'id', null,
             'Stripe reports a payment for a request that does not exist here.', p_event_id)
             else billing.outcome('ignored') end;
  end if;
  v_request := billing.lock_request(v_found.request_id);
  -- Read again, now that nobody else can change it.
  v_found := billing.find_session(p_session);
  if v_found.checkout_id is not null then
    update billing.checkouts c set session_id = p_session ->> 'id' where c.id = v_found.checkout_id and c.session_id is null;
    select c.* into v_checkout from billing.checkouts c where c.id = v_found.checkout_id;
  end if;
  if v_paid then
    return billing.take_session(v_request, v_checkout, p_session, p_event_id, p_at);
  elsif v_checkout.id is null then
    return billing.outcome('ignored', v_request.id);
  end if;

  if p_session ->> 'status' = 'complete' and coalesce(p_event_type, '') <> 'checkout.session.async_payment_failed' then
    if p_event_type is null and v_checkout.processing_since is not null then
      perform billing.look_behind(v_checkout, p_session);
    end if;
    return billing.note_processing(v_request, v_checkout, p_at);
  end if;
  -- A page that must not be paid is open: we gave up before Stripe had closed it, or it was made after all. Stripe is asked once an hour.
  if p_session ->> 'status' = 'open' and p_event_type is null
     and (v_checkout.state in ('failed', 'expired', 'mismatched')
          or v_checkout.state = 'abandoned' and billing.is_given_up('billing', v_checkout.id::text, 'expire')) then
    perform billing.close_page(v_checkout, 'expire-' || (extract(epoch from now()) / 3600)::integer);
  end if;
  if p_session ->> 'status' = 'complete' then
    v_moved := billing.fail_checkout(v_request, v_checkout, p_session ->> 'subscription', p_at);
  else
    v_moved := billing.move_checkout(v_checkout, case p_session ->> 'status' when 'expired' then 'EXPIRED' when 'open' then 'ANSWERED' end,
                                     p_at);
  end if;
  return billing.outcome(case when v_moved.id is null then 'known' else 'done' end, v_request.id);
end
$$;
comment on function billing.apply_session(jsonb, text, timestamptz, text)
  is 'Applies the state of a Checkout session and returns the outcome. Nullable: p_event_type.';
