-- Everything about one payment, by its id here or at Stripe, for those who may see it.
create or replace function public.get_payment(p_payment_id text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
  v_payment billing.payments := billing.find_payment(p_payment_id);
begin
  if v_caller.kind = 'anon' then
    perform headroom.fail('not_signed_in', 'This needs a member who is signed in, or a service key.', null, 'Sign in and try again.');
  elsif v_payment.id is null
     or v_caller.kind = 'member' and (v_caller.workspace_id <> v_payment.workspace_id
                                      or not billing.may_see(v_payment, v_caller.member_id)) then
    perform billing.no_such_payment(p_payment_id);
  end if;
  return billing.payment_json(v_payment);
end
$$;
comment on function public.get_payment(text) is 'A payment with its refunds, disputes and entries in the books.';
