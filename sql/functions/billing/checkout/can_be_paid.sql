-- Whether the customer of a request can pay now, which means that begin_checkout() would not refuse. The caller has locked the request.
create or replace function billing.can_be_paid(p_request capacity.requests) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' and p_request.next_deadline_at > clock_timestamp()
     and not billing.is_withdrawn(p_request.offer) and not billing.holds_money(p_request.id)
     and (billing.open_checkout(p_request.id)).state is distinct from 'processing';
$$;
comment on function billing.can_be_paid(capacity.requests) is 'Whether the customer of a request can go to pay.';
