-- A checkout whose payment is not what was asked for has a state of its own: nobody pays again while somebody looks at it.
alter table billing.checkouts drop constraint checkouts_state_check;
alter table billing.checkouts add constraint checkouts_state_check
  check (state in ('asked', 'open', 'processing', 'paid', 'failed', 'expired', 'abandoned', 'mismatched'));

-- People name a payment by its charge, which banks and dashboards show, and by the number of its receipt.
alter table billing.payments add column charge_id text;
comment on column billing.payments.charge_id is 'The charge at Stripe, once it was told of: people look payments up by it.';
create index payments_charge on billing.payments (charge_id) where charge_id is not null;
create index payments_receipt on billing.payments (upper(right(id::text, 12) collate "C"));
