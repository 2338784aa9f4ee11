-- How much there is to verify, for a progress bar: requests exactly, the rest as the planner's statistics have it.
create or replace function capacity.verify_extent(p_workspace_id text default null, out requests bigint, out deliveries bigint, out keys bigint, out lanes bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select count(*) into requests from capacity.requests r where p_workspace_id is null or r.workspace_id = p_workspace_id;
  select greatest(c.reltuples, 0) into deliveries from pg_class c where c.oid = 'outbox.payloads'::regclass;
  select greatest(c.reltuples, 0) into keys from pg_class c where c.oid = 'outbox.dedupe'::regclass;
  select greatest(c.reltuples, 0) into lanes from pg_class c where c.oid = 'outbox.lanes'::regclass;
end
$$;
comment on function capacity.verify_extent(text) is 'How many requests there are, and about how many outbox rows, keys and lanes.';
