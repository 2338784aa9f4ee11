-- Takes settled lanes off their claims. Called while the heads still name their claim.
create or replace function outbox.close_lanes(p_lane_ids bigint[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform outbox.close_rows(array_agg(h.claim_id))
     from outbox.heads h where h.lane_id = any (p_lane_ids) and h.claim_id is not null
   having count(*) > 0;
end
$$;
comment on function outbox.close_lanes(bigint[]) is 'Lowers the open count of the claims that hold these lanes.';
