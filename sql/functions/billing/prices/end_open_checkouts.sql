-- Ends every way to pay at a price that was withdrawn: Stripe is asked to close its pages.
create or replace function billing.end_open_checkouts(p_price_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text;
begin
  for v_id in
    select r.id from billing.checkouts c join capacity.requests r on r.id = c.request_id
     where c.state in ('asked', 'open') and r.offer ->> 'price_id' = p_price_id::text order by r.id for update of r
  loop
    perform billing.abandon_checkout(billing.open_checkout(v_id));
  end loop;
end
$$;
comment on function billing.end_open_checkouts(uuid) is 'Abandons the open checkouts at a price.';
