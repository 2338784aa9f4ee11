-- Stripe was asked for the refunds of a payment, and one of ours that was given up is not among them, so it was not made. It is set aside;
-- its row, which would block the payment's lane, is skipped; and what is left is refunded again, under another key. Stripe must have been
-- asked after the last try; if that try's outcome is unknown, some minutes after it, in which Stripe would have finished it.
create or replace function billing.miss_refund(p_payment_intent text, p_seen_at timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_payment billing.payments;
  v_refund billing.refunds;
  v_row record;
  v_left bigint;
  v_waits boolean;
begin
  select p.* into v_payment from billing.payments p where p.payment_intent = p_payment_intent;
  select r.* into v_refund from billing.refunds r where r.payment_id = v_payment.id and r.origin = 'ours' and r.state = 'sent';
  select d.failed,
         (select max(l.recorded_at) from outbox.lines l where l.outbox_id = d.outbox_id)
           + case when d.in_doubt then interval '5 minutes' else interval '0' end as sure_at,
         (select l.error_code from outbox.lines l where l.outbox_id = d.outbox_id and l.error_code is not null
           order by l.attempt_no desc limit 1) as error
    into v_row from outbox.deliveries d where d.outbox_id = v_refund.outbox_id and d.sent_at is null;
  if v_row.failed is not true or p_seen_at < v_row.sure_at
     or exists (select from outbox.skip(array[v_refund.outbox_id], 'billing', 'Stripe has no such refund: it is made again.') k
                 where k.result in ('busy', 'in_flight')) then
    return;
  end if;
  update billing.refunds r
     set state = 'superseded', failure = left(coalesce(v_row.error, 'given_up'), 100), updated_at = clock_timestamp(), next_look_at = null
   where r.id = v_refund.id;
  v_left := billing.left_of(v_payment.id);
  -- Stripe refused because of a dispute that may not have been reported to us: do not ask again immediately, unless we know that it has
  -- ended.
  v_waits := coalesce(v_row.error = 'disputed', false) and v_left > 0
    and not exists (select from billing.disputes d where d.payment_id = v_payment.id and d.outcome <> 'open'
                       and d.updated_at > v_row.sure_at);
  perform billing.tell(v_refund.request_id, concat_ws(' ',
    format('Stripe did not make the refund of %s.', billing.amount_words(v_refund.currency, v_refund.amount)),
    case when v_left = 0 then 'Nothing is left of the payment to refund.'
         when v_payment.refund_reason is null then 'An operator sees to it'
           || case when v_waits or billing.is_disputed(v_payment.id) then ' once the dispute about it has ended.'
                   else ': headroom payments refund ' || v_payment.id end
         when v_waits then 'It waits for the end of a dispute.'
         -- Otherwise settle() says that it waits for a person.
         when billing.is_tried_again(v_payment.id) then 'What is left of the payment is refunded again.' end), v_left > 0, v_row.error);
  if not v_waits then
    -- Refunds that waited for this one.
    perform billing.release_refund(v_payment.id);
  elsif v_payment.refund_reason is not null then
    perform billing.refund(v_payment, v_payment.refund_reason, p_held_by => 'dispute');
  end if;
  perform billing.settle(v_payment.id);
end
$$;
comment on function billing.miss_refund(text, timestamptz) is 'Opens a refund again that was given up and does not exist at Stripe.';
