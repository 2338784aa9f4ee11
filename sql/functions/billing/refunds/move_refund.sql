-- Moves a refund forward, enters it into the books, tells people, and handles what is left of the payment.
create or replace function billing.move_refund(
  p_payment billing.payments, p_refund billing.refunds, p_state text, p_told jsonb, p_event_id text, p_at timestamptz
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  -- A superseded refund that Stripe makes after all stays superseded while its replacement is under way, and if it fails.
  v_state text := case
    when p_refund.state = 'superseded' and p_state in ('failed', 'cancelled') then 'superseded'
    when p_refund.state in ('succeeded', 'failed', 'cancelled') and p_state = 'pending' then p_refund.state
    when p_refund.state = 'superseded' and p_state = 'pending'
         and exists (select from billing.refunds r where r.payment_id = p_payment.id and r.origin = 'ours'
                        and r.state in ('held', 'sent', 'pending')) then 'superseded'
    else p_state end;
  v_entered boolean := false;
  v_back boolean := v_state in ('failed', 'cancelled');
  v_news boolean := v_back and p_refund.state <> v_state;
begin
  update billing.refunds r
     set state = v_state, stripe_id = p_told ->> 'id', held_by = null,
         updated_at = case when r.state = v_state then r.updated_at else clock_timestamp() end,
         failure = case when v_back then left(coalesce(p_told ->> 'failure_reason', p_told ->> 'status'), 100)
                        else r.failure end,
         next_look_at = case when v_state = 'pending' then clock_timestamp() + interval '1 day'
                             when v_state = 'succeeded' then r.created_at + interval '10 days' end
   where r.id = p_refund.id;
  perform billing.close_row(r) from billing.refunds r where r.id = p_refund.id;
  if v_state = 'succeeded' then
    v_entered := billing.enter(p_payment, 'refunded', p_told ->> 'id', p_refund.amount, p_event_id, p_at);
  elsif v_back and exists (select from billing.entries e where e.payment_id = p_payment.id and e.kind = 'refunded'
                                          and e.source_id = p_told ->> 'id') then
    perform billing.enter(p_payment, 'refund_failed', p_told ->> 'id', p_refund.amount, p_event_id, p_at);
  end if;
  if v_entered then
    perform billing.tell_refunded(p_payment, p_refund);
  elsif v_news then
    perform billing.tell_returned(p_payment, p_refund, v_state, p_told ->> 'failure_reason');
    -- A failed refund that a person asked for is opened again here; one that has to be made anyway, by settle() below.
    if v_state = 'failed' and p_payment.refund_reason is null and p_refund.origin = 'ours' then
      perform billing.reopen_refund(p_payment, p_refund);
    end if;
  end if;
  perform billing.release_refund(p_payment.id);
  perform billing.settle(p_payment.id);
  return billing.outcome('done', p_payment.request_id);
end
$$;
comment on function billing.move_refund(billing.payments, billing.refunds, text, jsonb, text, timestamptz)
  is 'Moves a refund by what Stripe reported and returns the outcome.';
