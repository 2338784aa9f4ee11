-- About how much there is to verify, for a progress bar, by the planner's statistics.
create or replace function outbox.verify_extent(out deliveries bigint, out keys bigint, out lanes bigint)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  select greatest(c.reltuples, 0) into deliveries from pg_class c where c.oid = 'outbox.payloads'::regclass;
  select greatest(c.reltuples, 0) into keys from pg_class c where c.oid = 'outbox.dedupe'::regclass;
  select greatest(c.reltuples, 0) into lanes from pg_class c where c.oid = 'outbox.lanes'::regclass;
end
$$;
comment on function outbox.verify_extent() is 'About how many rows, keys and lanes there are.';
