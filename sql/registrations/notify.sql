-- What notifications need of the layers below, and the points where layers above may add functions. If no layer names the people to tell
-- about mail that does not arrive, the admins of the workspace are told.
select headroom.declare_hooks('notify', '{
  "notify.bounced": "Mail does not arrive: {workspace_id, delivery_id, recipient_kind, recipient, about, outcome}. Answers {tell}: ids.",
  "notify.following": "Messages are about to be released: {most}. A layer that noted something for this moment tells it."
}');
select headroom.register_hooks('notify', '{
  "outbox.ended": "notify.note_endings",
  "outbox.finished": "notify.note_settled",
  "directory.member_removed": "notify.forget_member"
}');

-- Rows may name it before a relay that serves it has declared it.
select outbox.ensure_rails('{"slack-webhook": {"capability": "blind", "timeout_ms": 15000, "guarded": true}}');

-- Without order: each message goes when it is due, the most important first, and a waiting one delays no other. Five tries, as the
-- seed asks for, over hours, so that a mail server that is down for a while costs no customer their offer. What may have arrived is sent
-- again, because a duplicate message is better than a missing one.
select outbox.ensure_stream('people', '{"ordered": false, "resend_blind": true, "max_tries": 5, "backoff_base_ms": 30000,
  "backoff_factor": 8, "backoff_cap_ms": 28800000, "retention": "quarter", "followed": true, "writers": []}');

select outbox.ensure_grants('{"slack-webhook": ["people"]}');
select outbox.reserve_kinds('{slack-webhook:}');
