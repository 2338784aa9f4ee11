-- Whether a refund was not made, something is left to refund, and no later refund took its place. A superseded refund is included only if a
-- person had asked for it: one that has to be made anyway is opened again automatically.
create or replace function billing.is_unmade(p_refund billing.refunds) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select (p_refund.state in ('failed', 'cancelled')
          or p_refund.state = 'superseded' and p_refund.failure is not null
             and exists (select from billing.payments p where p.id = p_refund.payment_id and p.refund_reason is null))
     and billing.left_of(p_refund.payment_id) > 0
     and not exists (select from billing.refunds n
                      where n.payment_id = p_refund.payment_id and n.created_at >= p_refund.updated_at and n.id <> p_refund.id
                        and (n.state <> 'superseded' or n.failure is not null));
$$;
comment on function billing.is_unmade(billing.refunds) is 'Whether a refund failed and nothing has taken its place.';
