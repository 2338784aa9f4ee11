-- Enters a movement of money into the books, once: the insert decides. Returns whether it was new.
create or replace function billing.enter(
  p_payment billing.payments, p_kind text, p_source_id text, p_amount bigint, p_event_id text, p_at timestamptz
) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into billing.entries (workspace_id, payment_id, kind, source_id, currency, amount, event_id, at)
  values (p_payment.workspace_id, p_payment.id, p_kind, p_source_id, p_payment.currency,
          case when p_kind in ('refunded', 'disputed') then -p_amount else p_amount end, p_event_id, p_at)
  on conflict (payment_id, kind, source_id) do nothing;
  return found;
end
$$;
comment on function billing.enter(billing.payments, text, text, bigint, text, timestamptz)
  is 'Enters a movement of money into the books; whether it is new.';
