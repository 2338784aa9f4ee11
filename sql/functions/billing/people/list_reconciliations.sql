-- Comparisons with Stripe, newest first; or the named one.
create or replace function billing.list_reconciliations(p_id uuid default null, p_limit integer default 10)
returns setof billing.reconciliations
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    perform headroom.fail('invalid_input', 'A list has 1 to 1000 comparisons.');
  end if;
  return query
  select r.* from billing.reconciliations r where p_id is null or r.id = p_id order by r.asked_at desc, r.id limit p_limit;
end
$$;
comment on function billing.list_reconciliations(uuid, integer) is 'Comparisons with Stripe.';
