-- What we read of a refund or a dispute, and nothing else: Stripe's objects also name customers.
create or replace function billing.without_people(p_object jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'object', p_object -> 'object', 'id', p_object -> 'id', 'status', left(p_object ->> 'status', 40),
    'amount', billing.amount_in(p_object -> 'amount'), 'currency', left(p_object ->> 'currency', 3),
    'payment_intent', left(billing.id_in(p_object -> 'payment_intent'), 200), 'created', p_object -> 'created',
    'charge', left(billing.id_in(p_object -> 'charge'), 200),
    'failure_reason', left(p_object ->> 'failure_reason', 100),
    'metadata', (select jsonb_object_agg(m.key, left(m.value #>> '{}', 100)) from jsonb_each(
                   case jsonb_typeof(p_object -> 'metadata') when 'object' then p_object -> 'metadata' else '{}' end) m
                  where m.key in ('headroom_installation', 'headroom_refund'))));
$$;
comment on function billing.without_people(jsonb) is 'A refund or a dispute of Stripe''s without what it says about people.';
