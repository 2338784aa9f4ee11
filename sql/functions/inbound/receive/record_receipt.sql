-- Keeps a verified receipt, once: the insert decides. Returns whether it is new. The verifier chose the content
-- that is kept, and its size is limited. Postal's reports are applied immediately.
create or replace function inbound.record_receipt(p_provider text, p_receipt_id text, p_kind text, p_payload jsonb) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_provider is null or p_provider <> 'postal' or p_receipt_id is null
    or length(p_receipt_id) not between 1 and 200
     or p_kind is null or length(p_kind) not between 1 and 100 or jsonb_typeof(p_payload) is distinct from 'object'
     or octet_length(p_payload::text) > 65536 then
    perform headroom.fail('invalid_input', 'This receipt cannot be kept here.', null, 'Nothing was written.');
  end if;
  insert into inbound.receipts (provider, receipt_id, kind, payload)
  values (p_provider, p_receipt_id, p_kind, p_payload)
  on conflict do nothing;
  if not found then
    return false;
  end if;
  update inbound.receipts r set outcome = inbound.postal_handle(p_kind, p_payload -> 'payload')
   where r.provider = p_provider and r.receipt_id = p_receipt_id;
  return true;
end
$$;
comment on function inbound.record_receipt(text, text, text, jsonb) is 'Keeps a verified receipt; whether it is new.';
