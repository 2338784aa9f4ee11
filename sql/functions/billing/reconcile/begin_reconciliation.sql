-- Begins to compare Stripe's records with ours, from a given time on; pages are requested one after the other.
create or replace function billing.begin_reconciliation(p_asked_by text, p_since timestamptz) returns uuid
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_reconciliation billing.reconciliations;
begin
  insert into billing.reconciliations (asked_by, since, cursor) values (p_asked_by, p_since, 'sessions:') returning * into v_reconciliation;
  perform billing.ask_page(v_reconciliation);
  return v_reconciliation.id;
end
$$;
comment on function billing.begin_reconciliation(text, timestamptz) is 'Begins a comparison with Stripe and returns its id.';
