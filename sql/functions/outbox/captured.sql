-- What earlier deliveries of these lanes brought back.
create or replace function outbox.captured(p_lane_ids bigint[]) returns table (lane_id bigint, captured jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select c.lane_id, jsonb_object_agg(c.name, c.value) from outbox.captures c where c.lane_id = any (p_lane_ids) group by c.lane_id;
$$;
comment on function outbox.captured(bigint[]) is 'Stored captures of lanes, one object per lane.';
