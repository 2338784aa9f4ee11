-- Whether a refund that failed is made again automatically: twice; after the third failure a person takes over. A person also takes over if
-- a refund was cancelled at Stripe, because somebody did not want it made.
create or replace function billing.is_tried_again(p_payment_id uuid) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select count(*) < 3 and not coalesce(bool_or(r.state = 'cancelled'), false)
    from billing.refunds r where r.payment_id = p_payment_id and r.failure is not null;
$$;
comment on function billing.is_tried_again(uuid) is 'Whether a refund that failed is made again automatically.';
