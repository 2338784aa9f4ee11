-- Our own server keeps what Stripe, GitHub or Postal sent, once it has verified the signature; nobody else can.
create or replace function public.record_delivery(p_provider text, p_delivery_id text, p_kind text, p_payload jsonb, p_body_hash text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform capacity.require_purpose('receive');
  if p_body_hash is null or p_body_hash !~ '^[0-9a-f]{64}$' then
    perform capacity.fail('invalid_input', 'The hash of the body is 64 hexadecimal digits.');
  end if;
  return inbound.record(p_provider, p_delivery_id, p_kind, p_payload, decode(p_body_hash, 'hex'));
end
$$;
comment on function public.record_delivery(text, text, text, jsonb, text) is 'Keeps a verified delivery, for our own server; whether it is new.';
