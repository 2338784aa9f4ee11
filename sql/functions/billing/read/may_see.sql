-- Whether a member may see a payment: whoever may read its request, and those who work on payments or oversee all.
create or replace function billing.may_see(p_payment billing.payments, p_member_id text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from directory.members m
                  where m.workspace_id = p_payment.workspace_id and m.id = p_member_id and m.active
                    and (m.roles && array['operator', 'admin', 'auditor']
                         or capacity.may_read((select r from capacity.requests r where r.id = p_payment.request_id), p_member_id)));
$$;
comment on function billing.may_see(billing.payments, text) is 'Whether this member of the payment''s workspace may see it.';
