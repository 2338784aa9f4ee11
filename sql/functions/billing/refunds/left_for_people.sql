-- How much of a payment a person may refund: what is left of it, plus the refunds that wait for a person, which the new one replaces.
create or replace function billing.left_for_people(p_payment_id uuid) returns bigint
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select billing.left_of(p_payment_id)
         + coalesce((select sum(r.amount) from billing.refunds r
                      where r.payment_id = p_payment_id and r.state = 'held' and r.held_by = 'person'), 0)::bigint;
$$;
comment on function billing.left_for_people(uuid) is 'How much of a payment a person may refund.';
