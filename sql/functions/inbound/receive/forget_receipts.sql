-- Forgets receipts after ninety days: providers retry for at most three, and decisions are in the log. The reason of a refusal
-- may quote what somebody typed about a customer, and only Slack's retry needs it: after half an hour only the code is kept.
-- Bounded, so that a call is short; every sweep calls it (hook of capacity.swept).
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
comment on function inbound.forget_receipts(jsonb) is 'Deletes receipts past their retention. Nullable: result.';
