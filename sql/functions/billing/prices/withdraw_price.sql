-- Withdraws a price that was a mistake. Offers at that price can no longer be paid: those who wait on them are told, their open pages at
-- Stripe are closed, and a payment that still arrives is refunded. The previous price applies again, if there was one.
--
-- A checkout that begins at the same moment may not be visible here: the sweep ends it, and a payment by it is refunded.
create or replace function billing.withdraw_price(p_price_id uuid, p_reason text, p_actor text) returns billing.prices
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_price billing.prices;
  v_request_id text;
begin
  perform headroom.check_actor(p_actor);
  if coalesce(length(btrim(p_reason, E' \n\t')) not between 1 and 500, true) then
    perform headroom.fail('invalid_input', 'A reason of 1 to 500 characters is required.', null,
                          'It is kept with the price. Nothing was changed.');
  end if;
  select p.* into v_price from billing.prices p where p.id = p_price_id for update;
  if not found then
    perform headroom.fail('not_found', 'There is no such price.', p_price_id::text, 'List prices: headroom prices list');
  elsif v_price.withdrawn_at is null then
    update billing.prices p
       set withdrawn_at = clock_timestamp(), withdrawn_by = p_actor, withdrawn_why = btrim(p_reason, E' \n\t')
     where p.id = p_price_id
    returning p.* into v_price;
    perform billing.tell_withdrawn(v_price);
    for v_request_id in
      select r.id from billing.checkouts c join capacity.requests r on r.id = c.request_id
       where c.state in ('asked', 'open') and r.offer ->> 'price_id' = p_price_id::text order by r.id for update of r
    loop
      perform billing.abandon_checkout(billing.open_checkout(v_request_id));
    end loop;
  end if;
  return v_price;
end
$$;
comment on function billing.withdraw_price(uuid, text, text) is 'Withdraws a price; offers at it can no longer be paid.';
