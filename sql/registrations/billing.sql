-- What billing needs of the layers below.
select headroom.register_hooks('billing', '{
  "directory.member_returned": "billing.check_wizard_of_returned",
  "capacity.offer_made": "billing.offer_for",
  "capacity.expiry_due": "billing.hold_expiry",
  "capacity.closed": "billing.follow_end",
  "capacity.story_told": "billing.tell_story",
  "capacity.swept": "billing.sweep",
  "capacity.customer_erased": "billing.erase_messages",
  "outbox.captured": "billing.keep_answers"
}');

select outbox.ensure_rails('{
  "stripe": {"capability": "lookup", "timeout_ms": 20000, "guarded": true, "credentials": ["STRIPE_SECRET_KEY"]}
}');

-- Sessions are made and ended, and Stripe is asked for the current state. A customer waits for the first of these, so tries follow each
-- other quickly; the sweep asks again for what cannot be done within the hour. Questions that could not be answered in time are forgotten
-- after a day: while Stripe is down there are many, and they add nothing to the calls of customers.
select outbox.ensure_stream('billing', '{"max_tries": 12, "backoff_base_ms": 500, "backoff_factor": 2, "backoff_cap_ms": 600000,
  "forget_minutes": 1440, "writers": []}');
-- Ending a subscription moves no money, and must not wait behind a refund that failed: it has its own stream, with a lane for each.
select outbox.ensure_stream('subscriptions', '{"max_tries": 20, "backoff_base_ms": 2000, "backoff_factor": 2, "backoff_cap_ms": 3600000,
  "writers": []}');
-- Refunds stop at one that failed, and are never sent twice on a guess. No other role may write this stream: a row from outside could stand
-- before a refund, which would then never go out.
select outbox.ensure_stream('refunds', '{"on_dead": "block", "carries_money": true, "max_tries": 8, "writers": []}');
-- The wizard's only mail: the person who waits for it gives up soon, and so do we. Nothing of it is worth keeping longer than a week.
select outbox.ensure_stream('self-service', '{"resend_blind": true, "max_tries": 8, "backoff_factor": 3, "backoff_cap_ms": 1800000,
  "retention": "week", "dedupe_days": 90, "writers": []}');

-- Refunds that an earlier version put into payments finish there.
select outbox.ensure_grants('{"stripe": ["billing", "refunds", "subscriptions"], "email": ["self-service"]}', '{"stripe": ["payments"]}');
select outbox.reserve_kinds('{stripe}');
