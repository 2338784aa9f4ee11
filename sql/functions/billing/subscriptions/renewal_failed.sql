-- A renewal failed. Stripe tries again on its own; people are told immediately, and again at the end of the grace period. A report older
-- than our state changes nothing.
create or replace function billing.renewal_failed(p_subscription billing.subscriptions, p_at timestamptz) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_grace integer := (billing.settings_of(p_subscription.workspace_id)).grace_days;
begin
  if p_at <= coalesce(p_subscription.told_by, '-infinity') or p_subscription.state <> 'active' or p_subscription.cancel_asked_at is not null
  then
    return billing.outcome('known', p_subscription.request_id);
  end if;
  update billing.subscriptions s
     set state = 'past_due', grace_until = clock_timestamp() + v_grace * interval '1 day', told_by = p_at,
         next_look_at = least(s.next_look_at, clock_timestamp() + v_grace * interval '1 day'), updated_at = clock_timestamp()
   where s.id = p_subscription.id;
  perform billing.tell(p_subscription.request_id, format('The renewal of the subscription failed. Stripe tries again; if nothing is paid '
    'within %s days, it is treated as unpaid.', v_grace), true);
  return billing.outcome('done', p_subscription.request_id);
end
$$;
comment on function billing.renewal_failed(billing.subscriptions, timestamptz) is 'Records a failed renewal and returns the outcome.';
