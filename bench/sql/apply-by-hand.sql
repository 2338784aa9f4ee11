-- The same row writes by hand, in one transaction of plain statements: nothing is asked, rendered or hashed. Stream, rail and
-- destination are known numbers, and what the two messages hold are constants of the size that it has.
begin;
insert into capacity.events (request_id, seq, id, event_type, actor_type, actor_id, via, state_before, state_after, payload, effects, created_at, hash, workspace_id)
values ('CR-2026-' || lpad(nextval('bench.requests')::text, 6, '0'), 2, gen_random_uuid(), 'COMMERCIAL_APPROVED', 'user', 'bob', 'cli', 'UNDER_REVIEW',
        'UNDER_REVIEW', '{}', '{slack_root_update,slack_reply}', clock_timestamp(), '\x0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8', 'default');
update capacity.requests
   set version = 2, updated_at = clock_timestamp(), commercial_approved_at = clock_timestamp(), commercial_approved_by = 'bob', head_hash = '\x0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8'
 where id = (select 'CR-2026-' || lpad(currval('bench.requests')::text, 6, '0'));
insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, salt, payload_hash)
values (:stream_id, 'CR-2026-' || lpad(currval('bench.requests')::text, 6, '0') || '#2', 'slack_root_update', uuidv7(), gen_random_uuid(), '\x0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8'),
       (:stream_id, 'CR-2026-' || lpad(currval('bench.requests')::text, 6, '0') || '#2', 'slack_reply', uuidv7(), gen_random_uuid(), '\x0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8')
on conflict do nothing;
insert into outbox.lanes as l (stream_id, key, next_seq, idle_at)
values (:stream_id, 'CR-2026-' || lpad(currval('bench.requests')::text, 6, '0') || chr(58) || 'slack', 3, 1)
on conflict (stream_id, key) do update set next_seq = l.next_seq + 2;
insert into outbox.pending (lane_id, seq, outbox_id, due, destination_id, special, payload_hash, coalesce_key)
values (currval('bench.requests'), 2, uuidv7(), clock_timestamp(), :destination_id, true, '\x0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8', 'root'),
       (currval('bench.requests'), 3, uuidv7(), clock_timestamp(), :destination_id, true, '\x0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8', null);
insert into outbox.heads (lane_id, stream_id, priority, due, head_seq) values (currval('bench.requests'), :stream_id, 5, clock_timestamp(), 2);
insert into outbox.payloads (outbox_id, lane_id, seq, destination_id, stream_id, rail_id, priority, instruction_id, idempotency_key, payload_hash,
                             payload, coalesce_key, binds)
values (uuidv7(), currval('bench.requests'), 2, :destination_id, :stream_id, :rail_id, 5, 'CR-2026-' || lpad(currval('bench.requests')::text, 6, '0') || '#2',
        'slack_root_update', '\x0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8',
        '{"request": "CR-2026-000001"}',
        'root', '[{"path": [], "renderer": "slack-root"}, {"path": ["ts"], "capture": "slack_thread_ts", "required": true}]'),
       (uuidv7(), currval('bench.requests'), 3, :destination_id, :stream_id, :rail_id, 5, 'CR-2026-' || lpad(currval('bench.requests')::text, 6, '0') || '#2',
        'slack_reply', '\x0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8',
        '{"text": "CR-2026-000001: Bob approved the commercial review. The technical review is still open.", "blocks": [{"text": {"text": "Bob approved the commercial review. The technical review is still open.", "type": "mrkdwn"}, "type": "section"}], "method": "chat.postMessage", "channel": "C0123456", "metadata": {"event_type": "capacity_request", "event_payload": {"cr_id": "CR-2026-000001", "effect": "slack_reply", "instruction_id": "CR-2026-000001#2"}}}',
        null, '[{"path": ["thread_ts"], "capture": "slack_thread_ts", "required": true}]');
commit;
