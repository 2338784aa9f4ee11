-- Comments of billing's tables in plain words.
comment on column billing.installation.live_since is 'When Stripe first reported something in live mode. Null: only test mode so far.';
comment on table billing.payments is 'Money that was taken. Kept forever: see docs/operating/erasure.md.';
comment on column billing.payments.charge_id is 'The charge at Stripe, once it was reported: people look payments up by it.';
comment on table billing.prices is 'What one instance costs, by size, region and duration; null holds for all. Kept forever.';
