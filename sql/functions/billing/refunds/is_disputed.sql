-- Whether a payment has an open dispute: then nothing is refunded automatically, or the money might go back twice.
create or replace function billing.is_disputed(p_payment_id uuid) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from billing.disputes d where d.payment_id = p_payment_id and d.outcome = 'open');
$$;
comment on function billing.is_disputed(uuid) is 'Whether a payment has an open dispute.';
