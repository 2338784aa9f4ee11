-- Payments stop at one that failed, and are never sent twice on a guess; events of transfers continue.
select outbox.ensure_stream('payments', '{"on_dead": "block", "carries_money": true, "max_tries": 8}');
select outbox.ensure_stream('transfers', '{"resend_blind": true, "retention": "week", "dedupe_days": 90, "writers": []}');
