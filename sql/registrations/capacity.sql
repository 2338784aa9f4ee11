-- What the workflow needs of the layers below, and where layers above may join in.
select headroom.declare_hooks('capacity', '{
  "capacity.closed": "A request has ended: {request_id, event, state_before, state_after, actor}.",
  "capacity.customer_erased": "A customer''s data is being erased: {request_id, to}. Answers which messages go too, by stream.",
  "capacity.expiry_due": "An offer''s time is over: {request_id}. A layer that waits for something answers {hold_until} under its name.",
  "capacity.offer_made": "What does this cost: {workspace_id, requested_size, quantity, region, expected_duration_days}? Answers {offer}.",
  "capacity.provisioning_changed": "Provisioning began or ended: {request_id, event, state_after, actor, job_id}.",
  "capacity.story_told": "A message about a request is made: {request_id}. Answers what layers above add, by their name.",
  "capacity.swept": "The timers run: {most}. What is due may be done; a layer answers {moved, failed, more} under its name."
}');
select headroom.register_hooks('capacity', '{
  "headroom.secret_removed": "capacity.check_link_secret",
  "notify.bounced": "capacity.customer_bounced",
  "outbox.captured": "capacity.keep_captures",
  "outbox.ended": "capacity.note_dead_letters",
  "outbox.circuits": "capacity.note_circuits",
  "notify.following": "capacity.tell_problems",
  "directory.group_removed": "capacity.check_group_unused",
  "directory.member_removed": "capacity.left_behind",
  "directory.member_returned": "capacity.check_rules_of_returned"
}');

-- Slack takes about one message a second per channel.
select outbox.ensure_limits('{"slack:": {"min_interval_ms": 1000}}');

-- The rails by which the workflow speaks, with the values that ours declare; a test compares them.
select outbox.ensure_rails('{
  "slack": {"capability": "lookup", "timeout_ms": 15000},
  "linear": {"capability": "lookup", "timeout_ms": 15000},
  "email": {"capability": "blind", "timeout_ms": 30000}
}');

-- Twelve tries over most of a day. With full jitter the mean is half of what the powers say.
select outbox.ensure_stream('capacity',
  '{"resend_blind": true, "max_tries": 12, "backoff_factor": 3, "backoff_cap_ms": 28800000, "writers": []}');
select outbox.register_renderers('capacity', '{
  "slack-root": "capacity.slack_root_now",
  "linear-issue": "capacity.linear_issue_now"
}');
