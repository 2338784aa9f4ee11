-- What the workflow needs of the layers below, and the points where layers above may add functions.
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
  "webhooks.endpoint_changed": "capacity.route_endpoint",
  "directory.group_removed": "capacity.check_group_unused",
  "directory.member_joining": "capacity.check_joining",
  "directory.account_given": "capacity.check_account_given",
  "directory.member_removed": "capacity.left_behind",
  "directory.member_returned": "capacity.check_rules_of_returned"
}');

-- Routes what endpoints and subscriptions already say, and what this release made of it.
select capacity.route_all();

-- Slack takes about one message a second per channel.
select outbox.ensure_limits('{"slack:": {"min_interval_ms": 1000}}');

-- The workflow's rails, with the values that our relays declare; a test compares them. They use the installation's credentials.
select outbox.ensure_rails('{
  "slack": {"capability": "lookup", "timeout_ms": 15000, "guarded": true, "credentials": ["SLACK_BOT_TOKEN"]},
  "linear": {"capability": "lookup", "timeout_ms": 15000, "guarded": true, "credentials": ["LINEAR_API_KEY"]},
  "email": {"capability": "blind", "timeout_ms": 30000, "guarded": true, "credentials": ["POSTAL_API_KEY", "SMTP_URL"]}
}');

-- Twelve tries over most of a day. With full jitter the mean wait is half of the ceiling.
select outbox.ensure_stream('capacity',
  '{"resend_blind": true, "max_tries": 12, "backoff_factor": 3, "backoff_cap_ms": 28800000, "writers": []}');
select outbox.register_renderers('capacity', '{
  "slack-root": "capacity.slack_root_now",
  "slack-reply": "capacity.slack_reply_then",
  "linear-issue": "capacity.linear_issue_now",
  "linear-comment": "capacity.linear_comment_then"
}');

-- Which event, notice or problem tells whom: the only such table. A cause is an event's type, a notice's kind or a problem of delivery, and
-- has one line for each audience. `direct` is left out for those whom the request's thread mentions, and for those whose group is told in
-- its channel. `provided` says in words when a line applies, if that is not always, and capacity.tells_of_event() and tells_of_notice()
-- decide it. People are not told about their own acts. The documentation is generated from it.
delete from capacity.tells;
with lines (cause, audience, category, template, channels, priority, provided) as (
values
  ('REQUEST_SUBMITTED', 'requester', 'requests', 'step', '{in-app}'::text[], 5, 'somebody else submitted it'),
  ('REQUEST_SUBMITTED', 'asked', 'reviews', 'asked', '{in-app,direct}', 6, null),
  ('REQUEST_SUBMITTED', 'group', 'reviews', 'asked', '{slack}', 6, 'it is to review, and its channel is not the thread''s'),
  ('COMMERCIAL_APPROVED', 'requester', 'requests', 'step', '{in-app}', 5, null),
  ('COMMERCIAL_APPROVED', 'asked', 'reviews', 'escalated', '{in-app,direct}', 6, 'it was endorsed, and a higher authority is asked'),
  ('COMMERCIAL_APPROVED', 'no_longer_asked', 'reviews', 'no_longer_asked', '{in-app,direct}', 4, 'others had been asked'),
  ('COMMERCIAL_APPROVED', 'customer', 'offers', 'offer', '{email}', 7, 'both reviews are approved, and an address is known'),
  ('COMMERCIAL_APPROVED', 'fixers', 'reviews', 'notice', '{in-app,direct}', 7, 'both are approved, and the customer cannot be asked'),
  ('TECH_REVIEW_APPROVED', 'requester', 'requests', 'step', '{in-app}', 5, null),
  ('TECH_REVIEW_APPROVED', 'no_longer_asked', 'reviews', 'no_longer_asked', '{in-app,direct}', 4, 'others had been asked'),
  ('TECH_REVIEW_APPROVED', 'customer', 'offers', 'offer', '{email}', 7, 'both reviews are approved, and an address is known'),
  ('TECH_REVIEW_APPROVED', 'fixers', 'reviews', 'notice', '{in-app,direct}', 7, 'both are approved, and the customer cannot be asked'),
  ('TECH_REVIEW_APPROVED', 'group', 'reviews', 'no_longer_asked', '{slack}', 4, 'it was told in its channel'),
  ('COMMERCIAL_REJECTED', 'requester', 'requests', 'step', '{in-app}', 6, null),
  ('COMMERCIAL_REJECTED', 'no_longer_asked', 'reviews', 'no_longer_asked', '{in-app,direct}', 4, 'others had been asked'),
  ('COMMERCIAL_REJECTED', 'group', 'reviews', 'no_longer_asked', '{slack}', 4, 'it was told in its channel'),
  ('TECH_REVIEW_REJECTED', 'requester', 'requests', 'step', '{in-app}', 6, null),
  ('TECH_REVIEW_REJECTED', 'no_longer_asked', 'reviews', 'no_longer_asked', '{in-app,direct}', 4, 'others had been asked'),
  ('TECH_REVIEW_REJECTED', 'group', 'reviews', 'no_longer_asked', '{slack}', 4, 'it was told in its channel'),
  ('CUSTOMER_CONFIRMED', 'requester', 'requests', 'step', '{in-app}', 5, null),
  ('CUSTOMER_CONFIRMED', 'customer', 'payments', 'confirmed', '{email}', 6, 'an address is known'),
  ('CUSTOMER_DECLINED', 'requester', 'requests', 'step', '{in-app}', 6, null),
  ('CUSTOMER_DECLINED', 'customer', 'offers', 'declined', '{email}', 5, 'an address is known'),
  ('CUSTOMER_CONFIRMATION_TIMEOUT', 'requester', 'requests', 'step', '{in-app}', 6, null),
  ('CUSTOMER_CONFIRMATION_TIMEOUT', 'customer', 'offers', 'expired', '{email}', 5, 'an address is known'),
  ('PROVISIONING_COMPLETE', 'requester', 'requests', 'step', '{in-app}', 6, null),
  ('PROVISIONING_COMPLETE', 'customer', 'progress', 'completed', '{email}', 6, 'an address is known'),
  ('PROVISIONING_FAILED', 'requester', 'requests', 'step', '{in-app}', 7, null),
  ('PROVISIONING_FAILED', 'customer', 'progress', 'failed', '{email}', 6, 'an address is known'),
  ('PROVISIONING_FAILED', 'operators', 'operations', 'notice', '{in-app,direct}', 8, null),
  ('CANCEL_APPROVED', 'requester', 'requests', 'step', '{in-app}', 6, 'somebody else cancelled it'),
  ('CANCEL_APPROVED', 'no_longer_asked', 'reviews', 'no_longer_asked', '{in-app,direct}', 4, 'others had been asked'),
  ('CANCEL_APPROVED', 'group', 'reviews', 'no_longer_asked', '{slack}', 4, 'it was told in its channel'),
  ('CANCEL_APPROVED', 'customer', 'offers', 'cancelled', '{email}', 5, 'they had been asked, and an address is known'),
  ('reminder', 'reminded', 'reviews', 'digest', '{in-app,direct}', 6, null),
  ('reminder', 'group', 'reviews', 'digest', '{slack}', 6, 'it is to review, and has a channel'),
  ('nudge', 'asked', 'reviews', 'notice', '{in-app,direct}', 6, null),
  ('nudge', 'group', 'reviews', 'notice', '{slack}', 6, 'it is to review, and its channel is not the thread''s'),
  ('warning', 'customer', 'offers', 'warning', '{email}', 7, 'an address is known'),
  ('warning', 'asked', 'reviews', 'notice', '{in-app}', 5, 'the customer has been asked'),
  ('warning', 'fixers', 'reviews', 'notice', '{in-app,direct}', 7, 'the customer has not been asked'),
  ('unasked', 'fixers', 'reviews', 'notice', '{in-app,direct}', 7, null),
  ('address', 'customer', 'offers', 'offer', '{email}', 7, 'their answer is waited for'),
  ('link', 'customer', 'offers', 'offer', '{email}', 7, 'their answer is waited for'),
  ('payment_failed', 'customer', 'payments', 'payment_failed', '{email}', 7, 'their answer is waited for, and an address is known'),
  ('payment_failed', 'requester', 'requests', 'notice', '{in-app}', 6, 'nobody had to be named, or not them'),
  ('payment_failed', 'operators', 'operations', 'notice', '{in-app,direct}', 8, 'it waits on people'),
  ('payment', 'requester', 'requests', 'notice', '{in-app}', 5, 'it does not wait on them'),
  ('payment', 'operators', 'operations', 'notice', '{in-app,direct}', 8, 'it waits on people, as a dispute does'),
  ('refund', 'requester', 'requests', 'notice', '{in-app}', 5, 'it does not wait on them'),
  ('refund', 'operators', 'operations', 'notice', '{in-app,direct}', 8, 'it waits on people'),
  ('refund', 'customer', 'payments', 'refunded', '{email}', 6, 'an address is known'),
  ('job', 'requester', 'requests', 'notice', '{in-app}', 4, 'it does not wait on them'),
  ('job', 'operators', 'operations', 'notice', '{in-app,direct}', 8, 'it waits on people: an attempt failed, or cannot begin'),
  ('dead_letters', 'operators', 'operations', 'dead_letters', '{in-app,direct}', 8, 'they do not tell of problems themselves'),
  ('circuit_open', 'operators', 'operations', 'circuit_open', '{in-app,direct}', 8, 'messages of the workspace wait for it'),
  ('circuit_closed', 'operators', 'operations', 'circuit_closed', '{in-app,direct}', 5, 'they were told that it did not answer')
)
insert into capacity.tells (cause, audience, category, critical, template, channels, priority, provided, place)
select l.cause, l.audience, l.category, c.critical, l.template, l.channels, l.priority, l.provided, l.place
  from (select n.*, row_number() over () as place from lines n) l
  join notify.categories c on c.category = l.category;

select outbox.ensure_grants('{"slack": ["capacity", "people"], "linear": ["capacity"], "email": ["people"]}');
select outbox.reserve_kinds('{slack:,email:,linear}');
