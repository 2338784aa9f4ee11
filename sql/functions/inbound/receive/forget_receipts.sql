-- Forgets receipts after ninety days: providers send again for three at most, and what was decided stands in the log. Why one was refused
-- may quote what somebody typed about a customer, and only Slack's next try needs the sentence: after half an hour its code is left.
-- Bounded, so that a call is short; the sweep calls it each time it runs (hook of capacity.swept).
create or replace function inbound.forget_receipts(p_argument jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant integer := 1000;
begin
  update inbound.receipts d set refusal = substring(d.refusal from '^[a-z_]+')
   where (d.provider, d.receipt_id) in (
         select o.provider, o.receipt_id from inbound.receipts o
          where strpos(o.refusal, ' ') > 0 and o.received_at < now() - interval '30 minutes'
          order by o.received_at limit c_most for update skip locked);
  delete from inbound.receipts d using (
    select o.provider, o.receipt_id from inbound.receipts o where o.received_at < now() - interval '90 days'
     order by o.received_at limit c_most for update skip locked) old
   where d.provider = old.provider and d.receipt_id = old.receipt_id;
  return null;
end
$$;
comment on function inbound.forget_receipts(jsonb) is 'Deletes receipts that are past their retention. Nullable: result.';
