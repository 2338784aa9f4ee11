-- Makes a checkout of a request's offer, and the call that has Stripe make its page. The intent, and the key under which the call can be
-- repeated, commit before the call is made. Stripe's pages last at least half an hour and less than a day by Stripe's clock, which may
-- differ from ours, so some minutes are left at both ends.
--
-- The confirmation token is never sent to Stripe: the customer returns to an address that names only the checkout.
create or replace function billing.new_checkout(p_request capacity.requests, p_entrance text) returns billing.checkouts
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_minutes integer := least((billing.settings_of(p_request.workspace_id)).session_minutes, 24 * 60 - 5);
  v_url text := (select rtrim(w.public_url, '/') from directory.workspaces w where w.id = p_request.workspace_id);
  v_mark bytea := billing.address_mark(p_request);
  v_customer text := (select c.stripe_id from billing.customers c
                       where c.workspace_id = p_request.workspace_id and c.customer_key = capacity.customer_key_of(p_request.id)
                         and c.address_mark = v_mark);
  v_checkout billing.checkouts;
begin
  if v_url is null then
    perform headroom.fail('not_configured', 'The customer could not come back from paying: the workspace has no public address.',
      p_request.workspace_id, 'An operator sets one. Nothing was changed.');
  end if;
  insert into billing.checkouts (id, request_id, workspace_id, number, mode, currency, amount, entrance, created_at, expires_at,
                                 next_look_at, address_mark)
  select gen_random_uuid(), p_request.id, p_request.workspace_id,
         coalesce((select max(c.number) from billing.checkouts c where c.request_id = p_request.id), 0) + 1,
         case p_request.offer ->> 'kind' when 'recurring' then 'subscription' else 'payment' end, p_request.offer ->> 'currency',
         (p_request.offer ->> 'amount')::bigint, p_entrance, v_now,
         greatest(least(p_request.next_deadline_at, v_now + v_minutes * interval '1 minute'), v_now + interval '35 minutes'),
         v_now + interval '10 minutes', v_mark
  returning * into v_checkout;
  perform outbox.add_row(
    false, p_request.workspace_id, 'billing', 'checkout:' || p_request.id, v_checkout.id::text, 'create', 'stripe',
    jsonb_strip_nulls(jsonb_build_object(
      'operation', 'checkout.create', 'checkout_id', v_checkout.id, 'request_id', p_request.id, 'workspace_id', p_request.workspace_id,
      'installation_id', billing.installation_id(), 'mode', v_checkout.mode, 'currency', v_checkout.currency,
      'amount', v_checkout.amount, 'unit_amount', p_request.offer -> 'unit_amount', 'quantity', p_request.offer -> 'quantity',
      'description', left(format('%s in %s (%s)', p_request.requested_size, p_request.region, p_request.id), 250),
      'expires_at', extract(epoch from v_checkout.expires_at)::bigint, 'success_url', v_url || '/paid/' || v_checkout.id,
      'cancel_url', v_url || '/paid/' || v_checkout.id || '?cancelled=1', 'customer', v_customer,
      'customer_email', case when v_customer is null then capacity.email_of_customer(p_request.id) end)),
    p_priority => 3, p_destination => 'stripe',
    p_captures => jsonb_build_object('session:' || v_checkout.id, '[]'::jsonb, 'id:' || v_checkout.id, '["id"]'::jsonb));
  return v_checkout;
end
$$;
comment on function billing.new_checkout(capacity.requests, text) is 'Makes a checkout and enqueues the making of its page.';
