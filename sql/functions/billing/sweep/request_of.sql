-- The request that an object of Stripe's (billing.plain_object) concerns, so that it can be locked before the object is applied; null if
-- there is none.
create or replace function billing.request_of(p_object jsonb) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text := p_object ->> 'object';
  v_intent text := p_object ->> 'payment_intent';
begin
  return case
    when v_kind = 'checkout.session' then (select f.request_id from billing.find_session(p_object) f)
    when v_kind = 'refund' then coalesce((billing.find_refund(p_object)).request_id,
                                         (select p.request_id from billing.payments p where p.payment_intent = v_intent))
    when v_kind = 'dispute' then coalesce((select d.request_id from billing.disputes d where d.stripe_id = p_object ->> 'id'),
                                          (select p.request_id from billing.payments p where p.payment_intent = v_intent))
    when v_kind = 'subscription' and exists (select from billing.subscriptions s where s.stripe_id = p_object ->> 'id')
      then (select s.request_id from billing.subscriptions s where s.stripe_id = p_object ->> 'id')
    when v_kind = 'invoice' and exists (select from billing.subscriptions s where s.stripe_id = p_object ->> 'subscription')
      then (select s.request_id from billing.subscriptions s where s.stripe_id = p_object ->> 'subscription')
    when v_kind = 'invoice' and exists (select from billing.payments p where p.invoice_id = p_object ->> 'id')
      then (select p.request_id from billing.payments p where p.invoice_id = p_object ->> 'id')
    when v_kind = 'payment_intent' and exists (select from billing.payments p where p.payment_intent = p_object ->> 'id')
      then (select p.request_id from billing.payments p where p.payment_intent = p_object ->> 'id')
    when v_kind in ('payment_intent', 'subscription', 'invoice') and billing.is_ours(p_object)
      then (select r.id from capacity.requests r where r.id = p_object #>> '{metadata,headroom_request}') end;
end
$$;
comment on function billing.request_of(jsonb) is 'The request that an object of Stripe''s concerns. Nullable: result.';
