-- When a subscription ended at Stripe, by Stripe's clock: told_by is the time of the last word about it, which later words move.
alter table billing.subscriptions add column ended_at timestamptz;
comment on column billing.subscriptions.ended_at is 'When it ended at Stripe. Null: it has not, or nothing there could.';
update billing.subscriptions set ended_at = told_by where kind = 'recurring' and state in ('ended', 'cancelled');

-- What is charged after a subscription has ended goes back for that, and not because a request was cancelled.
alter table billing.payments drop constraint payments_refund_reason_check;
alter table billing.payments add constraint payments_refund_reason_check
  check (refund_reason in ('late', 'cancelled', 'declined', 'duplicate', 'price_withdrawn', 'failed', 'ended', 'unmatched'));
