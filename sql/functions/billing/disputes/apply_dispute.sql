-- Applies a report of a dispute, in whatever order the events come. Won and lost are final. A late report of an earlier stage changes
-- nothing: a dispute never becomes an inquiry again, and an answered one never becomes unanswered. The books take the money out when the
-- bank has taken it, and put it back when the dispute was won.
--
-- A decision may be appealed. An event does not say whether it happened before or after the decision, so Stripe is asked, and its answer
-- reopens a dispute that was lost. A dispute that was won and is appealed goes to people: its money came back and may have been refunded
-- since.
create or replace function billing.apply_dispute(p_dispute jsonb, p_event_id text, p_at timestamptz) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_stages constant text[] :=
    '{warning_needs_response,warning_under_review,needs_response,under_review,appeal_needs_response,appeal_under_review}';
  v_amount bigint := (p_dispute ->> 'amount')::bigint;
  v_rule record;
  v_before billing.disputes;
  v_payment billing.payments;
  v_differs boolean;
begin
  select p.* into v_payment from billing.payments p
   where p.id = (select d.payment_id from billing.disputes d where d.stripe_id = p_dispute ->> 'id')
      or p.payment_intent = p_dispute ->> 'payment_intent';
  if v_payment.id is null then
    return billing.outcome('ignored');
  end if;
  perform billing.lock_request(v_payment.request_id);
  select d.* into v_before from billing.disputes d where d.stripe_id = p_dispute ->> 'id';
  select r.* into v_rule from billing.dispute_rules() r where r.status = p_dispute ->> 'status';
  if coalesce(v_amount, 0) = 0 or p_dispute ->> 'currency' is distinct from v_payment.currency then
    return billing.record_finding('unknown_dispute', p_dispute ->> 'id', v_payment.request_id,
      'Stripe reports a dispute that does not match the payment.', p_event_id);
  elsif v_rule.status is null then
    return billing.note_strange_dispute(v_payment, p_dispute, p_event_id, p_at);
  end if;
  v_differs := v_before.outcome in ('won', 'lost')
    and (starts_with(v_rule.status, 'appeal') or v_rule.outcome not in ('open', v_before.outcome));
  if v_differs and not starts_with(p_event_id, 'look:') then
    perform billing.look(v_payment.workspace_id, 'dispute', p_dispute ->> 'id');
    return billing.outcome('known', v_payment.request_id);
  elsif v_before.outcome in ('won', 'lost') and (not v_differs or p_at < v_before.updated_at)
        or v_rule.outcome = 'open' and array_position(v_stages, v_rule.status) <= array_position(v_stages, v_before.status) then
    return billing.outcome('known', v_payment.request_id);
  elsif v_differs and v_before.outcome = 'won' then
    return billing.record_finding('unknown_dispute', p_dispute ->> 'id', v_payment.request_id,
      'The dispute had ended in our favour, and Stripe now reports otherwise.', p_event_id);
  end if;

  insert into billing.disputes as d (stripe_id, workspace_id, request_id, payment_id, currency, amount, status, outcome, opened_at)
  values (p_dispute ->> 'id', v_payment.workspace_id, v_payment.request_id, v_payment.id, v_payment.currency, v_amount, v_rule.status,
          v_rule.outcome, coalesce(to_timestamp((p_dispute ->> 'created')::bigint), p_at))
  on conflict (stripe_id) do update
     set status = excluded.status, outcome = excluded.outcome, updated_at = clock_timestamp();
  if v_rule.withdrawn then
    perform billing.enter(v_payment, 'disputed', p_dispute ->> 'id', coalesce(v_before.amount, v_amount), p_event_id, p_at);
  elsif v_rule.outcome = 'won' and exists (select from billing.entries e where e.payment_id = v_payment.id and e.kind = 'disputed'
                                              and e.source_id = p_dispute ->> 'id') then
    perform billing.enter(v_payment, 'dispute_won', p_dispute ->> 'id', coalesce(v_before.amount, v_amount), p_event_id, p_at);
  end if;
  if v_rule.outcome = 'open' then
    -- The event that ends it may never arrive, so Stripe is asked.
    update billing.payments p set next_look_at = coalesce(p.next_look_at, clock_timestamp() + interval '1 day') where p.id = v_payment.id;
  end if;
  perform billing.tell_dispute(v_payment, v_before, p_dispute, v_rule.outcome);
  perform billing.release_refund(v_payment.id);
  perform billing.settle(v_payment.id);
  return billing.outcome('done', v_payment.request_id);
end
$$;
comment on function billing.apply_dispute(jsonb, text, timestamptz) is 'Applies the state of a dispute at Stripe and returns the outcome.';
