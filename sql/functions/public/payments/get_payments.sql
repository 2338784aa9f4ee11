-- The money of a request: its offer, the state of payment, each payment and what it bought, for those who may read the request.
create or replace function public.get_payments(p_request_id text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return billing.payments_of((billing.request_in_reach(p_request_id)).id);
end
$$;
comment on function public.get_payments(text) is 'The payments of a request and what they bought.';
