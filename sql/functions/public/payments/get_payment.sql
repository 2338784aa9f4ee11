-- Everything about one payment, by its id here or at Stripe, for those who may see it.
create or replace function public.get_payment(p_payment_id text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return billing.payment_json(billing.payment_in_reach(p_payment_id));
end
$$;
comment on function public.get_payment(text) is 'A payment with its refunds, disputes and entries in the books.';
