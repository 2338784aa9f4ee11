-- Keeps what Stripe or Postal sent, for our own server, once that has verified the signature; nobody else can call it.
create or replace function public.record_receipt(p_provider text, p_receipt_id text, p_kind text, p_payload jsonb) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform directory.require_purpose('receive');
  return inbound.record_receipt(p_provider, p_receipt_id, p_kind, p_payload);
end
$$;
comment on function public.record_receipt(text, text, text, jsonb) is 'Keeps a verified receipt, for our own server; whether it is new.';
