-- Hook of capacity.customer_erased: the reason of a refusal may quote what somebody wrote about the customer, so only its code is kept.
-- Names the answers to people in Slack about the request, which are erased with the request's other messages.
create or replace function inbound.erase_receipts(p_erasure jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request_id text := p_erasure ->> 'request_id';
begin
  update inbound.receipts r set refusal = substring(r.refusal from '^[a-z_]+')
   where r.request_id = v_request_id and strpos(r.refusal, ' ') > 0 and r.received_at <= (p_erasure ->> 'to')::timestamptz;
  return jsonb_build_object('interactions', array(
    select 'slack:' || r.receipt_id from inbound.receipts r where r.request_id = v_request_id and r.provider = 'slack'));
end
$$;
comment on function inbound.erase_receipts(jsonb) is 'Erases what receipts quote of a request, and names the answers to them.';
