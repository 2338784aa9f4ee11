-- Whether a refund of ours is under way for a payment, other than p_but: one at a time, so that each sees how the last one ended.
create or replace function billing.is_refunding(p_payment_id uuid, p_but uuid default null) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from billing.refunds r where r.payment_id = p_payment_id and r.origin = 'ours'
                    and r.state in ('held', 'sent', 'pending') and r.id is distinct from p_but);
$$;
comment on function billing.is_refunding(uuid, uuid) is 'Whether a refund of a payment is under way. Nullable: p_but.';
