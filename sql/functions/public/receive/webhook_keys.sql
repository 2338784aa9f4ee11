-- The keys with which our own server verifies what Stripe or Postal sent: the current one, and during a rotation the previous
-- one. For that purpose only; no key that is handed out carries it.
create or replace function public.webhook_keys(p_provider text) returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := case p_provider when 'stripe' then 'STRIPE_WEBHOOK_SECRET' when 'postal' then 'POSTAL_WEBHOOK_PUBLIC_KEY' end;
begin
  perform directory.require_purpose('receive');
  if v_name is null then
    perform headroom.fail('invalid_input', 'There is no such provider.', left(p_provider, 40));
  end if;
  return array_remove(array[headroom.get_secret(v_name), headroom.optional_secret(v_name || '_PREVIOUS')], null);
end
$$;
comment on function public.webhook_keys(text) is 'The keys that verify a provider''s receipts, for our own server.';
