-- What provisioning needs of the layers below.
select headroom.register_hooks('provisioning', '{
  "capacity.provisioning_changed": "provisioning.follow_request",
  "capacity.story_told": "provisioning.tell_story",
  "capacity.swept": "provisioning.sweep",
  "capacity.customer_erased": "provisioning.erase_texts",
  "outbox.captured": "provisioning.keep_sightings"
}');

select outbox.ensure_rails('{
  "github-actions": {"capability": "lookup", "timeout_ms": 20000, "guarded": true, "credentials": ["GITHUB_TOKEN"]}
}');

-- Runs are started and stopped in order, and a run that cannot be started delays no other: the sweep sees it and the job fails. Many tries
-- within a few hours, because a run that takes minutes to end is asked for again until it has ended.
select outbox.ensure_stream('provisioning', '{"max_tries": 20, "backoff_base_ms": 2000, "backoff_factor": 2, "backoff_cap_ms": 900000,
  "writers": []}');

select outbox.ensure_grants('{"github-actions": ["provisioning"]}');
select outbox.reserve_kinds('{github:}');
