-- Ends every way to pay at a price that was withdrawn.
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
    update billing.checkouts c set state = 'abandoned', ended_at = clock_timestamp()
     where c.request_id = v_id and c.state in ('asked', 'open');
  end loop;
end
$$;
comment on function billing.end_open_checkouts(uuid) is 'Abandons the open checkouts at a price.';
