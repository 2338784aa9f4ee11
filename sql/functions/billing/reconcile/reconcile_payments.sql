-- Begins a comparison of Stripe's records with ours, because an operator asked for it. Returns the comparison's id; relays do the rest.
create or replace function billing.reconcile_payments(p_actor text, p_since timestamptz default null) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(length(p_actor) not between 1 and 200, true) then
    perform headroom.fail('invalid_input', 'An actor of 1 to 200 characters is required.', null, 'Name who does this.');
  elsif p_since < now() - interval '400 days' or p_since > now() then
    perform headroom.fail('invalid_input', 'A comparison begins within the last 400 days.', null, 'Nothing was changed.');
  end if;
  return billing.begin_reconciliation(p_actor, coalesce(p_since, now() - interval '7 days'));
end
$$;
comment on function billing.reconcile_payments(text, timestamptz) is 'Begins a comparison with Stripe. Nullable: p_since.';
