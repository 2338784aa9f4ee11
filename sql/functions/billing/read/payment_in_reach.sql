-- A payment that the caller may see, by its id here or at Stripe. A payment that does not exist, one of another workspace and one that the
-- caller may not see get the same answer.
create or replace function billing.payment_in_reach(p_payment_id text) returns billing.payments
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
  v_payment billing.payments := billing.find_payment(p_payment_id);
begin
  if v_caller.kind = 'anon' then
    perform headroom.fail('not_signed_in', 'This needs a member who is signed in, or a service key.', null, 'Sign in and try again.');
  elsif v_payment.id is null
     or v_caller.kind = 'member' and (v_caller.workspace_id <> v_payment.workspace_id or not billing.may_see(
          (select r from capacity.requests r where r.id = v_payment.request_id), v_caller.member_id)) then
    perform headroom.fail('not_found', 'There is no such payment, or you may not see it.', left(p_payment_id, 80),
      'Name it by its id, by the number of its receipt, or by an id at Stripe.');
  end if;
  return v_payment;
end
$$;
comment on function billing.payment_in_reach(text) is 'A payment that the caller may see.';
