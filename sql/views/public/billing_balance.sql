-- The books by day (UTC), as the API shows them: the caller's own rights decide which entries are included.
create or replace view public.billing_balance with (security_invoker = true) as
select b.workspace_id, b.currency, b.day, b.taken, b.refunded, b.disputed, b.net from billing.balance b
 where (select directory.reader_key_valid());
comment on view public.billing_balance is 'What was taken, refunded and disputed, by workspace, currency and day (UTC).';
