-- The same row writes by hand, in one transaction of plain statements, each planned once: nothing is looked up, rendered or hashed.
begin;
insert into capacity.events (request_id, seq, id, event_type, actor_type, actor_id, via, state_before, state_after, payload, effects, created_at, hash, workspace_id)
values (bench.request_id(nextval('bench.requests')), 2, gen_random_uuid(), 'COMMERCIAL_APPROVED', 'user', 'bob', bench.via(), 'UNDER_REVIEW',
        'UNDER_REVIEW', '{}', bench.effects(), clock_timestamp(), bench.hash(), 'default');
insert into capacity.acts (workspace_id, account, at) values ('default', 'bob ' || bench.via(), clock_timestamp());
update capacity.requests
   set version = 2, updated_at = clock_timestamp(), commercial_approved_at = clock_timestamp(), commercial_approved_by = 'bob', head_hash = bench.hash()
 where id = (select bench.request_id(currval('bench.requests')));
insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, salt, payload_hash)
values (bench.stream_id(), bench.request_id(currval('bench.requests')) || '#2', bench.root_effect(), uuidv7(), gen_random_uuid(), bench.hash()),
       (bench.stream_id(), bench.request_id(currval('bench.requests')) || '#2', bench.reply_effect(), uuidv7(), gen_random_uuid(), bench.hash())
on conflict do nothing;
insert into outbox.lanes as l (stream_id, key, next_seq, idle_at)
values (bench.stream_id(), bench.request_id(currval('bench.requests')) || chr(58) || 'slack', 3, 1)
on conflict (stream_id, key) do update set next_seq = l.next_seq + 2;
insert into outbox.pending (lane_id, seq, outbox_id, due, way_id, destination_id, special, bytes, payload_hash, coalesce_key)
values (bench.first_lane() + currval('bench.requests'), 2, uuidv7(), clock_timestamp(), bench.way_id(), bench.destination_id(), true, bench.root_bytes(), bench.hash(), 'root'),
       (bench.first_lane() + currval('bench.requests'), 3, uuidv7(), clock_timestamp(), bench.way_id(), bench.destination_id(), true, bench.reply_bytes(), bench.hash(), null);
insert into outbox.heads (lane_id, stream_id, way_id, destination_id, priority, due, head_seq)
values (bench.first_lane() + currval('bench.requests'), bench.stream_id(), bench.way_id(), bench.destination_id(), 5, clock_timestamp(), 2);
insert into outbox.payloads (outbox_id, lane_id, seq, way_id, destination_id, stream_id, rail_id, priority, instruction_id, idempotency_key, payload_hash,
                             bytes, payload, coalesce_key, binds, tenant_id)
values (uuidv7(), bench.first_lane() + currval('bench.requests'), 2, bench.way_id(), bench.destination_id(), bench.stream_id(), bench.rail_id(), 5,
        bench.request_id(currval('bench.requests')) || '#2', bench.root_effect(), bench.hash(), bench.root_bytes(), bench.root_payload(), 'root',
        bench.root_binds(), 'default'),
       (uuidv7(), bench.first_lane() + currval('bench.requests'), 3, bench.way_id(), bench.destination_id(), bench.stream_id(), bench.rail_id(), 5,
        bench.request_id(currval('bench.requests')) || '#2', bench.reply_effect(), bench.hash(), bench.reply_bytes(), bench.reply_payload(), null,
        bench.reply_binds(), 'default');
with told as (
  insert into notify.notifications (workspace_id, recipient_kind, recipient, idempotency_key, category, cause, about, title, body, channels, priority, critical,
                                    expires_at)
  values ('default', 'member', 'ann', bench.request_id(currval('bench.requests')) || bench.told_key(), 'requests', 'COMMERCIAL_APPROVED',
          bench.request_id(currval('bench.requests')), bench.title(), bench.body(), '{in-app}', 5, false, clock_timestamp() + interval '30 days')
  on conflict (workspace_id, recipient_kind, recipient, idempotency_key, (cause is null)) do nothing
  returning id)
insert into notify.parts (notification_id, channel, state, workspace_id, recipient_kind, recipient, priority, due_at, expires_at)
select t.id, 'in-app', 'shown', 'default', 'member', 'ann', 5, clock_timestamp(), clock_timestamp() + interval '30 days' from told t;
commit;
