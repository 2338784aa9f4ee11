-- Takes settled lanes off their claims, and drops claims that have nothing left in flight.
create or replace function outbox.close_lanes(p_lane_ids bigint[]) returns void
language plpgsql volatile set search_path = '' set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
  with counted as materialized (
    select h.claim_id, count(*) as settled from outbox.heads h where h.lane_id = any (p_lane_ids) and h.claim_id is not null group by h.claim_id
  ), closed as (
    delete from outbox.claims c using counted n where c.claim_id = n.claim_id and c.open <= n.settled
  )
  update outbox.claims c set open = c.open - n.settled from counted n where c.claim_id = n.claim_id and c.open > n.settled;
end
$$;
comment on function outbox.close_lanes(bigint[]) is 'Lowers the open count of the claims that hold these lanes.';
