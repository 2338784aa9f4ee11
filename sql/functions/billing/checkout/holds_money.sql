-- Whether Stripe took a payment for a request that differs from what was asked for, and nobody has resolved the finding. Until then the
-- customer is not asked to pay again, and is not told that nothing was charged.
create or replace function billing.holds_money(p_request_id text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from billing.findings f
                  where f.request_id = p_request_id and f.resolved_at is null and f.kind = 'amount_mismatch' and f.stripe_id ~ '^cs_');
$$;
comment on function billing.holds_money(text) is 'Whether a payment of a request waits for a person because it is not what was asked for.';
