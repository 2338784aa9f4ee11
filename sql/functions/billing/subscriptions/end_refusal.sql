-- Why a member may not end a subscription now, or null.
create or replace function billing.end_refusal(p_request capacity.requests, p_subscription billing.subscriptions, p_member_id text)
returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal headroom.refusal := billing.operator_refusal(p_request.workspace_id, p_member_id, 'ends a subscription');
begin
  if v_refusal.code is not null then
    return v_refusal;
  elsif p_subscription.kind is distinct from 'recurring' then
    return row('conflict', 'Nothing is charged again for this request, so there is nothing to end.', p_request.id,
               'To send money back: headroom payments refund. Nothing was changed.')::headroom.refusal;
  elsif p_subscription.state in ('ended', 'cancelled') then
    return row('conflict', 'The subscription has already ended, and nothing is charged any more.', p_request.id,
               'Nothing was changed.')::headroom.refusal;
  end if;
  return null;
end
$$;
comment on function billing.end_refusal(capacity.requests, billing.subscriptions, text)
  is 'Why a member may not end a subscription now. Nullable: p_subscription, result.';
