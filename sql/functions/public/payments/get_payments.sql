-- The money of a request: its offer, how the payment stands, each payment and what it bought, for those who may read the request.
create or replace function public.get_payments(p_request_id text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
  v_request capacity.requests;
begin
  if v_caller.kind = 'anon' then
    perform headroom.fail('not_signed_in', 'This needs a member who is signed in, or a service key.', null, 'Sign in and try again.');
  end if;
  select r.* into v_request from capacity.requests r where r.id = p_request_id;
  if v_request.id is null
     or v_caller.kind = 'member' and (v_caller.workspace_id <> v_request.workspace_id
          or not (capacity.may_read(v_request, v_caller.member_id)
                  or exists (select from directory.members m where m.workspace_id = v_request.workspace_id and m.id = v_caller.member_id
                                and m.active and m.roles && array['operator', 'admin', 'auditor']))) then
    perform capacity.no_such_request(p_request_id);
  end if;
  return billing.payments_of(v_request.id);
end
$$;
comment on function public.get_payments(text) is 'The payments of a request and what they bought.';
