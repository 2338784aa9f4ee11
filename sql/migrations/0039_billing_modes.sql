-- Stripe's test mode moves no money. Once this installation takes money in earnest, a payment in test mode buys nothing any more: a page
-- that was opened before, with the old secret still accepted, would else be paid with a card that everybody knows.
alter table billing.installation add column live_since timestamptz;
comment on column billing.installation.live_since
  is 'When Stripe first told of something in live mode. Null: nothing but test mode so far.';
alter table billing.findings drop constraint findings_kind_check;
alter table billing.findings add constraint findings_kind_check
  check (kind in ('amount_mismatch', 'unknown_payment', 'unknown_refund', 'unknown_dispute', 'books', 'test_payment'));

drop function if exists billing.monthly_usd(text, billing.prices, bigint, integer);
