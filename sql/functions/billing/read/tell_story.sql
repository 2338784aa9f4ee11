-- Hook of capacity.story_told: the price of a request and the status of its payment, for its messages.
create or replace function billing.tell_story(p_argument jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('payment', jsonb_strip_nulls(jsonb_build_object(
           'state', x.state,
           'words', '{
             "due": "to be paid",
             "held": "paid, but not what was asked for",
             "processing": "payment processing",
             "paid": "paid",
             "partly_refunded": "paid, and refunded in part",
             "refunding": "being refunded",
             "refunded": "refunded",
             "refund_held": "a refund waits",
             "disputed": "disputed by the customer",
             "lost": "lost in a dispute",
             "unpaid": "never paid"}'::jsonb ->> x.state,
           'price', billing.amount_words(r.offer ->> 'currency', (r.offer ->> 'amount')::bigint),
           'recurring', r.offer ->> 'kind' = 'recurring',
           'refunded', nullif((select sum(f.amount) from billing.refunds f where f.request_id = r.id and f.state = 'succeeded'), 0),
           'subscription', (select s.state from billing.subscriptions s where s.request_id = r.id and s.kind = 'recurring'))))
    from capacity.requests r cross join lateral (select billing.money_state(r) as state) x
   where r.id = p_argument ->> 'request_id' and x.state <> 'none';
$$;
comment on function billing.tell_story(jsonb) is 'The price of a request and the status of its payment. Nullable: result.';
