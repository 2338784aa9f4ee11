-- The ledger's events keep their order, whatever the outcome of each.
select outbox.ensure_stream('ledger', '{"on_dead": "block", "resend_blind": true, "retention": "week", "dedupe_days": 90, "writers": []}');
