-- Everything about one payment: its status, refunds, disputes, and its entries in the books.
create or replace function billing.payment_json(p_payment billing.payments) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'id', p_payment.id, 'request_id', p_payment.request_id, 'workspace_id', p_payment.workspace_id, 'purpose', p_payment.purpose,
    'currency', p_payment.currency, 'amount', p_payment.amount, 'counts', p_payment.counts, 'refund_reason', p_payment.refund_reason,
    'left', billing.left_for_people(p_payment.id), 'status', billing.payment_status(p_payment), 'paid_at', p_payment.paid_at,
    'session_id', p_payment.session_id, 'invoice_id', p_payment.invoice_id, 'payment_intent', p_payment.payment_intent,
    'charge_id', p_payment.charge_id, 'receipt', billing.receipt_number(p_payment.id),
    'event_id', p_payment.event_id, 'recorded_at', p_payment.recorded_at,
    'refunds', (select coalesce(jsonb_agg(jsonb_build_object(
                  'id', r.id, 'origin', r.origin, 'reason', r.reason, 'amount', r.amount, 'state', r.state, 'held_by', r.held_by,
                  'stripe_id', r.stripe_id, 'asked_by', r.asked_by, 'why', capacity.free_text(r.request_id, r.why_hash),
                  'failure', r.failure, 'created_at', r.created_at, 'updated_at', r.updated_at) order by r.created_at, r.id), '[]')
                  from billing.refunds r where r.payment_id = p_payment.id),
    'disputes', (select coalesce(jsonb_agg(jsonb_build_object(
                   'stripe_id', d.stripe_id, 'amount', d.amount, 'status', d.status, 'outcome', d.outcome, 'opened_at', d.opened_at,
                   'updated_at', d.updated_at) order by d.opened_at, d.stripe_id), '[]')
                   from billing.disputes d where d.payment_id = p_payment.id),
    'entries', (select coalesce(jsonb_agg(jsonb_build_object(
                  'kind', e.kind, 'amount', e.amount, 'source_id', e.source_id, 'event_id', e.event_id, 'at', e.at) order by e.id), '[]')
                  from billing.entries e where e.payment_id = p_payment.id));
$$;
comment on function billing.payment_json(billing.payments) is 'A payment with its refunds, disputes and entries.';
