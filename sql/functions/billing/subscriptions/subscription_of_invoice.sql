-- The subscription that an invoice of Stripe's is for, in whichever place its version of the API names it.
create or replace function billing.subscription_of_invoice(p_invoice jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(billing.id_in(p_invoice -> 'subscription'), billing.id_in(p_invoice #> '{parent,subscription_details,subscription}'));
end
$$;
comment on function billing.subscription_of_invoice(jsonb) is 'The subscription of an invoice. Nullable: result.';
