-- Ends the subscription of a request: for operators and admins, with a reason. Nothing more is charged, and nothing is refunded.
create or replace function public.end_subscription(p_request_id text, p_reason text, p_actor_id text default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := billing.request_in_reach(p_request_id);
begin
  perform billing.end_by_person(v_request.id, capacity.acting('user', p_actor_id, v_request.workspace_id), p_reason);
  return billing.payments_of(v_request.id);
end
$$;
comment on function public.end_subscription(text, text, text) is 'Ends the subscription of a request; nothing more is charged.';
