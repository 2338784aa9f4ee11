-- Takes settled rows off their claims (one element per row), and drops claims that have nothing left in flight.
create or replace function outbox.close_rows(p_claim_ids bigint[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  with counted as materialized (
    select u.claim_id, count(*) as settled from unnest(p_claim_ids) u(claim_id) group by u.claim_id
  ), closed as (
    delete from outbox.claims c using counted n where c.claim_id = n.claim_id and c.open <= n.settled
  )
  update outbox.claims c set open = c.open - n.settled from counted n where c.claim_id = n.claim_id and c.open > n.settled;
end
$$;
comment on function outbox.close_rows(bigint[]) is 'Lowers the open count of claims by one for each element.';
