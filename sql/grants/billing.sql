-- Grants of the schema `billing`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('billing');

-- Members and machines read through the views of public, which run with the caller's rights. Which rows: sql/policies/billing.sql.
grant select on
  billing.payments, billing.refunds, billing.disputes, billing.subscriptions, billing.entries, billing.balance
to authenticated, service_role;

-- Control and auditors read; what customers fill in is visible only to them.
grant usage on schema billing to headroom_control, headroom_auditor;
grant select on
  billing.settings, billing.prices, billing.exchange_rates, billing.installation, billing.checkouts, billing.payments,
  billing.subscriptions, billing.refunds, billing.disputes, billing.entries, billing.findings, billing.reconciliations,
  billing.balance
to headroom_control, headroom_auditor;

-- Control sets prices, rates and settings; auditors list them.
grant execute on function
  billing.put_price(text, jsonb, text),
  billing.withdraw_price(uuid, text, text),
  billing.set_rate(text, text, numeric, text),
  billing.put_settings(text, jsonb)
to headroom_control;
grant execute on function
  billing.list_prices(text),
  billing.list_rates(text),
  billing.list_settings()
to headroom_control, headroom_auditor;

-- Operators list payments, compare them with Stripe's and resolve findings; auditors list and verify.
grant execute on function
  billing.reconcile_payments(text, timestamptz),
  billing.resolve_finding(uuid, text, text)
to headroom_control;
grant execute on function
  billing.list_payments(text, text, integer),
  billing.verify_payments(text, integer, text)
to headroom_control, headroom_auditor;

-- What waits, what did not agree, the books, and what workspaces need: for people who look after money.
grant execute on function
  billing.list_waiting(text, integer),
  billing.list_findings(text, boolean, integer),
  billing.list_reconciliations(uuid, integer),
  billing.list_balance(text, date, date),
  billing.workspace_needs()
to headroom_control, headroom_auditor;
-- Relays also count what waits, for their metrics.
grant usage on schema billing to headroom_executor;
grant execute on function billing.waiting_counts() to headroom_executor, headroom_control, headroom_auditor;

-- And make the link of the wizard's mail at the moment of sending it.
grant execute on function billing.proof_token(uuid, text) to headroom_executor;
