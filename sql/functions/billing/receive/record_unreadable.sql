-- Records a finding for an object of Stripe's that cannot be read, once for each kind. People are told if its request is known. Everything
-- else continues without it.
create or replace function billing.record_unreadable(p_stripe_id text, p_kind text, p_request_id text, p_event_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform billing.record_finding(
    case p_kind when 'refund' then 'unknown_refund' when 'dispute' then 'unknown_dispute' else 'unknown_payment' end,
    left(coalesce(nullif(p_stripe_id, ''), 'without an id'), 200), p_request_id,
    format('Stripe reports %s that cannot be read here.', case when p_kind in ('refund', 'dispute') then 'a ' || p_kind
                                                               else 'a payment' end),
    p_event_id);
end
$$;
comment on function billing.record_unreadable(text, text, text, text)
  is 'Records an object of Stripe''s that cannot be read. Nullable: p_stripe_id, p_kind, p_request_id.';
