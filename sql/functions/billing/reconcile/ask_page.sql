-- Asks for the next page of a comparison; its cursor names the kind of objects and the last one read. Stripe's lists are ordered by
-- creation. Later changes, such as a bill paid weeks later, are in the list of events (`changes`), which covers 30 days: it is read from a
-- day before the last comparison that finished it. Disputes take months, and the event that ends one may get lost, so they are read from
-- the oldest one that is open here.
create or replace function billing.ask_page(p_reconciliation billing.reconciliations) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text := split_part(p_reconciliation.cursor, ':', 1);
  v_since timestamptz := least(p_reconciliation.since, case
    -- The limit keeps one dispute with a wrong time from affecting the comparison of the others.
    when v_kind = 'disputes'
      then (select greatest(min(d.opened_at), now() - interval '400 days') from billing.disputes d where d.outcome = 'open')
    when v_kind = 'changes' and p_reconciliation.asked_by = 'sweep'
      then (select greatest(coalesce(max(r.asked_at), '-infinity') - interval '1 day', now() - interval '30 days')
              from billing.reconciliations r where r.cursor is null and r.asked_by = 'sweep') end);
begin
  perform billing.ask_stripe(jsonb_build_object(
    'stream', 'billing', 'key', 'list:' || p_reconciliation.id, 'instruction_id', p_reconciliation.id,
    'idempotency_key', 'page-' || p_reconciliation.pages + 1,
    'payload', jsonb_strip_nulls(jsonb_build_object(
      'operation', 'list', 'installation_id', billing.installation_id(), 'kind', v_kind,
      'since', extract(epoch from v_since)::bigint, 'cursor', nullif(split_part(p_reconciliation.cursor, ':', 2), ''))),
    'capture', 'page', 'expires_at', clock_timestamp() + interval '1 hour'));
end
$$;
comment on function billing.ask_page(billing.reconciliations) is 'Enqueues the next page of a comparison.';
