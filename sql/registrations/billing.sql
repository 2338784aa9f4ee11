-- What billing needs of the layers below.
select outbox.ensure_rails('{"stripe": {"capability": "lookup", "timeout_ms": 20000}}');

-- Sessions are made and ended, and Stripe is asked how things stand. A customer waits for the first of these, so tries follow each other
-- quickly; what cannot be done within the hour is asked for anew by the sweep.
select outbox.ensure_stream('billing', '{"max_tries": 12, "backoff_base_ms": 500, "backoff_factor": 2, "backoff_cap_ms": 600000,
  "writers": []}');
-- Ending a subscription moves no money, and must not wait behind a refund that failed: a stream of its own, a lane for each.
select outbox.ensure_stream('subscriptions', '{"max_tries": 20, "backoff_base_ms": 2000, "backoff_factor": 2, "backoff_cap_ms": 3600000,
  "writers": []}');
