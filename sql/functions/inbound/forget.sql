-- Forgets deliveries after ninety days: providers send again for three at most, and what was decided stands in the log. Why one was refused
-- may quote what somebody typed about a customer, and only Slack's next try needs the sentence: after half an hour its code is left.
-- Bounded, so that a call is short; the sweep calls it each time it runs. Returns how many deliveries were forgotten.
create or replace function inbound.forget(p_most integer default 1000) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  update inbound.deliveries d set refusal = substring(d.refusal from '^[a-z_]+')
   where (d.provider, d.delivery_id) in (
         select o.provider, o.delivery_id from inbound.deliveries o where strpos(o.refusal, ' ') > 0 and o.received_at < now() - interval '30 minutes'
          order by o.received_at limit p_most for update skip locked);
  delete from inbound.deliveries d using (
    select o.provider, o.delivery_id from inbound.deliveries o where o.received_at < now() - interval '90 days'
     order by o.received_at limit p_most for update skip locked) old
   where d.provider = old.provider and d.delivery_id = old.delivery_id;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function inbound.forget(integer) is 'Deletes deliveries that are past their retention; how many.';
