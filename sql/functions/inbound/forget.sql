-- Forgets deliveries after ninety days: providers send again for three at most, and what was decided stands in the log. Bounded, so that a
-- call is short; the sweep calls it each time it runs.
create or replace function inbound.forget(p_most integer default 1000) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from inbound.deliveries d using (
    select o.provider, o.delivery_id from inbound.deliveries o where o.received_at < now() - interval '90 days'
     order by o.received_at limit p_most for update skip locked) old
   where d.provider = old.provider and d.delivery_id = old.delivery_id;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function inbound.forget(integer) is 'Deletes deliveries that are past their retention; how many.';
