-- The payments of a workspace for the command line, newest first; of all workspaces if none is named.
create or replace function billing.list_payments(
  p_workspace_id text default null, p_request_id text default null, p_limit integer default 50
) returns table (
  id uuid, request_id text, workspace_id text, purpose text, currency text, amount bigint, amount_left bigint, status text, counts boolean,
  refund_reason text, payment_intent text, paid_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    perform headroom.fail('invalid_input', 'A list has 1 to 10000 payments.');
  end if;
  return query
  select p.id, p.request_id, p.workspace_id, p.purpose, p.currency, p.amount, billing.left_for_people(p.id), billing.payment_status(p),
         p.counts, p.refund_reason, p.payment_intent, p.paid_at
    from billing.payments p
   where (p_workspace_id is null or p.workspace_id = p_workspace_id) and (p_request_id is null or p.request_id = p_request_id)
   order by p.recorded_at desc, p.id desc limit p_limit;
end
$$;
comment on function billing.list_payments(text, text, integer)
  is 'Payments with how they stand. Nullable: refund_reason, payment_intent.';
