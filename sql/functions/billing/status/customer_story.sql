-- The payment status of a request, for its customer. Null if there is no price and nothing was paid. held: something was paid that is not
-- what was asked for; erased: the last payment page was ended when the customer's data was erased.
create or replace function billing.customer_story(p_request_id text) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'digits', billing.currency_digits(r.offer ->> 'currency'),
    'withdrawn', w.withdrawn,
    'held', billing.holds_money(r.id),
    'erased', exists (select from capacity.erasures x join billing.checkouts c on c.request_id = x.request_id
                       where x.request_id = r.id and c.created_at <= x.covers_to and c.state in ('abandoned', 'expired')
                         and not exists (select from billing.checkouts n where n.request_id = r.id and n.number > c.number)),
    -- A payment under way for an offer that has ended, or whose price was withdrawn, is refunded when it arrives.
    'checkout', (select jsonb_build_object(
                   'state', case when c.state = 'processing' and (r.state <> 'CUSTOMER_CONFIRMATION_REQUIRED' or w.withdrawn)
                                 then 'returning' else c.state end,
                   'since', coalesce(c.processing_since, c.created_at))
                   from billing.checkouts c where c.request_id = r.id order by (c.state = 'processing') desc, c.number desc limit 1),
    'payments', (select coalesce(jsonb_agg(jsonb_build_object(
                   'receipt', billing.receipt_number(p.id), 'currency', p.currency, 'digits', billing.currency_digits(p.currency),
                   'amount', p.amount, 'paid_at', p.paid_at, 'counts', p.counts, 'purpose', p.purpose,
                   'refunds', billing.refund_story(p),
                   'dispute', (select max(d.outcome) from billing.disputes d where d.payment_id = p.id and d.outcome <> 'won'))
                   -- Within one second Stripe's times do not show the order.
                   order by p.paid_at, p.purpose = 'renewal', p.recorded_at, p.id), '[]')
                   from (select q.* from billing.payments q where q.request_id = r.id order by q.paid_at desc, q.id limit 24) p),
    'subscription', (select jsonb_build_object('kind', s.kind, 'state', s.state, 'starts_at', s.starts_at, 'ends_at', s.ends_at,
                                               'paid_until', s.paid_until, 'cancels_at', s.cancels_at)
                       from billing.subscriptions s where s.request_id = r.id))
    from capacity.requests r
   cross join lateral billing.is_withdrawn(r.offer) w(withdrawn)
   where r.id = p_request_id and (r.offer is not null or exists (select from billing.payments p where p.request_id = r.id));
$$;
comment on function billing.customer_story(text) is 'The payment status of a request, as its customer may see it. Nullable: result.';
