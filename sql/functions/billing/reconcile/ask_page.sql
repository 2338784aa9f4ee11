-- Asks for the page of a comparison that its cursor names: the kind of objects, and after which of them.
create or replace function billing.ask_page(p_reconciliation billing.reconciliations) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform billing.ask_stripe(null, 'billing', 'list:' || p_reconciliation.id, p_reconciliation.id::text,
    'page-' || p_reconciliation.pages + 1,
    jsonb_strip_nulls(jsonb_build_object(
      'operation', 'list', 'installation_id', billing.installation_id(), 'kind', split_part(p_reconciliation.cursor, ':', 1),
      'since', extract(epoch from p_reconciliation.since)::bigint, 'cursor', nullif(split_part(p_reconciliation.cursor, ':', 2), ''))),
    'page', p_expires_at => clock_timestamp() + interval '1 hour');
end
$$;
comment on function billing.ask_page(billing.reconciliations) is 'Enqueues the next page of a comparison.';
