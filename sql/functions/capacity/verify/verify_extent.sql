-- How much there is to verify, for a progress bar: requests exactly, the rest estimated from the planner's statistics.
create or replace function capacity.verify_extent(
  p_workspace_id text default null, out requests bigint, out deliveries bigint, out keys bigint, out lanes bigint
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select count(*) into requests from capacity.requests r where p_workspace_id is null or r.workspace_id = p_workspace_id;
  select e.deliveries, e.keys, e.lanes into deliveries, keys, lanes from outbox.verify_extent() e;
end
$$;
comment on function capacity.verify_extent(text) is 'How many requests there are, and about how many outbox rows, keys and lanes.';
