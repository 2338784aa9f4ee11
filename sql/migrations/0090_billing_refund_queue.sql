-- A refund that the bank returns while another of the same payment is on its way waits for that one (held by `refund`), so several of a
-- payment may be held; only one is at Stripe at a time. One that somebody cancels at Stripe has a state of its own: nobody but a person
-- sends it again.
alter table billing.refunds drop constraint refunds_held_by_check;
alter table billing.refunds add constraint refunds_held_by_check check (held_by in ('dispute', 'payment_intent', 'refund', 'person'));
alter table billing.refunds drop constraint refunds_state_check;
alter table billing.refunds add constraint refunds_state_check
  check (state in ('held', 'sent', 'pending', 'succeeded', 'failed', 'cancelled', 'superseded'));
drop index billing.refunds_under_way;
create unique index refunds_under_way on billing.refunds (payment_id) where origin = 'ours' and state in ('sent', 'pending');
drop index billing.refunds_failed;
create index refunds_failed on billing.refunds (updated_at) where state in ('failed', 'cancelled', 'superseded');
alter table billing.refunds add column customer_asked_at timestamptz;
comment on column billing.refunds.customer_asked_at
  is 'When Stripe asked the customer where the money is to go, without which it cannot go back.';

-- What was recorded as failed because it was cancelled at Stripe.
update billing.refunds set state = 'cancelled' where state = 'failed' and failure = 'canceled';
