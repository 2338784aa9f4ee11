-- A month was paid: the subscription is active again, unless it has ended. Without a time only the end of the paid period is updated.
create or replace function billing.note_paid_until(p_subscription billing.subscriptions, p_invoice jsonb, p_at timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update billing.subscriptions s
     set paid_until = greatest(s.paid_until, to_timestamp((p_invoice ->> 'period_end')::bigint)),
         state = case when s.state in ('past_due', 'unpaid') and p_at >= coalesce(s.told_by, '-infinity') then 'active' else s.state end,
         grace_until = case when p_at >= coalesce(s.told_by, '-infinity') then null else s.grace_until end,
         told_by = greatest(s.told_by, p_at), updated_at = clock_timestamp()
   where s.id = p_subscription.id;
end
$$;
comment on function billing.note_paid_until(billing.subscriptions, jsonb, timestamptz)
  is 'Records until when a subscription is paid. Nullable: p_at.';
