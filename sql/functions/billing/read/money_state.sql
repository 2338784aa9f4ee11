-- The state of a request's money in one word: `none` if there is no price and nobody paid; `due`; `held` if what was paid is not what was
-- asked for; `processing`; what payment_status() says of the payment that bought it or else of the last one; `unpaid` if it ended without a
-- payment.
create or replace function billing.money_state(p_request capacity.requests) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  return (
    select coalesce(
      (select billing.payment_status(p) from billing.payments p where p.request_id = p_request.id and p.purpose <> 'renewal'
        order by p.counts desc, p.recorded_at desc limit 1),
      case when billing.holds_money(p_request.id) then 'held'
           when p_request.offer is null then 'none'
           when exists (select from billing.checkouts c where c.request_id = p_request.id and c.processing_since is not null
                           and c.state in ('processing', 'abandoned')) then 'processing'
           when p_request.state in ('SUBMITTED', 'UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED') then 'due'
           else 'unpaid' end)
  );
end
$$;
comment on function billing.money_state(capacity.requests) is 'The state of a request''s money, in one word.';
