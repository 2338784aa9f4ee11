-- Asks for the page of a comparison that its cursor names: the kind of objects, and after which of them. Disputes take months, and the
-- word of their end may get lost: they are asked for from the oldest on that is open here, as far back as a comparison may go at all.
create or replace function billing.ask_page(p_reconciliation billing.reconciliations) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text := split_part(p_reconciliation.cursor, ':', 1);
  v_since timestamptz := least(p_reconciliation.since, case when v_kind = 'disputes' then
    greatest((select min(d.opened_at) from billing.disputes d where d.outcome = 'open'), now() - interval '400 days') end);
begin
  perform billing.ask_stripe(null, 'billing', 'list:' || p_reconciliation.id, p_reconciliation.id::text,
    'page-' || p_reconciliation.pages + 1,
    jsonb_strip_nulls(jsonb_build_object(
      'operation', 'list', 'installation_id', billing.installation_id(), 'kind', v_kind,
      'since', extract(epoch from v_since)::bigint, 'cursor', nullif(split_part(p_reconciliation.cursor, ':', 2), ''))),
    'page', p_expires_at => clock_timestamp() + interval '1 hour');
end
$$;
comment on function billing.ask_page(billing.reconciliations) is 'Enqueues the next page of a comparison.';
