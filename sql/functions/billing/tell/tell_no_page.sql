-- Says that Stripe did not make the page on which a customer would pay, for the first page of the request that failed: a customer who keeps
-- trying pings people once.
create or replace function billing.tell_no_page(p_checkout billing.checkouts) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from billing.checkouts c
                  where c.request_id = p_checkout.request_id and c.number < p_checkout.number and c.state = 'failed'
                    and c.session_id is null) then
    perform billing.tell(p_checkout.request_id, 'Stripe could not make the page on which the customer would pay. '
      || case when (select billing.can_be_paid(r) from capacity.requests r where r.id = p_checkout.request_id)
              then 'They can try again with the same link; an' else 'An' end || ' operator has to check the outbox.', true);
  end if;
end
$$;
comment on function billing.tell_no_page(billing.checkouts) is 'Says that a customer cannot pay because Stripe made no page.';
