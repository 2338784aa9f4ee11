-- The money of a request, for those who may read it: its state, each payment, and what it has bought.
create or replace function billing.payments_of(p_request_id text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  return (
    select jsonb_build_object(
      'state', billing.money_state(r), 'offer', r.offer,
      'checkout', (select jsonb_build_object('id', c.id, 'state', c.state, 'number', c.number, 'created_at', c.created_at,
                                             'expires_at', c.expires_at, 'processing_since', c.processing_since)
                     from billing.checkouts c where c.request_id = r.id order by c.number desc limit 1),
      'payments', (select coalesce(jsonb_agg(billing.payment_json(p) order by p.recorded_at, p.id), '[]')
                     from billing.payments p where p.request_id = r.id),
      'subscription', (select jsonb_build_object('id', s.id, 'kind', s.kind, 'state', s.state,
                                                 'starts_at', s.starts_at, 'ends_at', s.ends_at,
                                                 'paid_until', s.paid_until, 'cancels_at', s.cancels_at, 'grace_until', s.grace_until,
                                                 'cancel_asked_at', s.cancel_asked_at, 'stripe_id', s.stripe_id)
                         from billing.subscriptions s where s.request_id = r.id))
      from capacity.requests r where r.id = p_request_id
  );
end
$$;
comment on function billing.payments_of(text) is 'The payments of a request and what they bought. Nullable: result.';
