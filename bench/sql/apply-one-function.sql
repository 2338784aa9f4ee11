-- The same row writes in one plain function: nothing is looked up, rendered or hashed. Ids are made as in the product.
create function bench.approve(p_request_id text) returns text language plpgsql volatile as $$
declare
  v_now timestamptz := clock_timestamp();
  v_expires timestamptz := v_now + interval '30 days';
  v_instruction text := p_request_id || '#2';
  v_root_id uuid := encode(set_byte(uuid_send(uuidv7()), 7, bench.class_id()), 'hex')::uuid;
  v_reply_id uuid := encode(set_byte(uuid_send(uuidv7()), 7, bench.class_id()), 'hex')::uuid;
  v_told_id uuid := gen_random_uuid();
  v_lane_id bigint;
begin
  insert into capacity.events (request_id, seq, id, event_type, actor_type, actor_id, via, state_before, state_after, payload, effects, created_at,
                               hash, workspace_id)
  values (p_request_id, 2, gen_random_uuid(), 'COMMERCIAL_APPROVED', 'user', 'bob', bench.via(), 'UNDER_REVIEW', 'UNDER_REVIEW', '{}',
          bench.effects(), v_now, bench.hash(), 'default');
  insert into capacity.acts (workspace_id, account, at) values ('default', 'bob ' || bench.via(), v_now);
  update capacity.requests
     set version = 2, updated_at = v_now, commercial_approved_at = v_now, commercial_approved_by = 'bob', head_hash = bench.hash()
   where id = p_request_id;
  insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, salt, payload_hash, created_at)
  values (bench.stream_id(), v_instruction, bench.root_effect(), v_root_id, gen_random_uuid(), bench.hash(), v_now),
         (bench.stream_id(), v_instruction, bench.reply_effect(), v_reply_id, gen_random_uuid(), bench.hash(), v_now)
  on conflict do nothing;
  insert into outbox.lanes as l (stream_id, key, next_seq, idle_at) values (bench.stream_id(), p_request_id || ':slack', 3, 1)
  on conflict (stream_id, key) do update set next_seq = l.next_seq + 2
  returning l.lane_id into v_lane_id;
  insert into outbox.pending (lane_id, seq, outbox_id, due, way_id, destination_id, priority, special, bytes, payload_hash, coalesce_key)
  values (v_lane_id, 2, v_root_id, v_now, bench.way_id(), bench.destination_id(), 5, true, bench.root_bytes(), bench.hash(), 'root'),
         (v_lane_id, 3, v_reply_id, v_now, bench.way_id(), bench.destination_id(), 5, true, bench.reply_bytes(), bench.hash(), null);
  insert into outbox.heads (lane_id, stream_id, way_id, destination_id, priority, due, head_seq)
  values (v_lane_id, bench.stream_id(), bench.way_id(), bench.destination_id(), 5, v_now, 2);
  insert into outbox.payloads (outbox_id, lane_id, seq, created_at, way_id, destination_id, stream_id, rail_id, priority, instruction_id, idempotency_key,
                               payload_hash, bytes, payload, coalesce_key, binds, tenant_id)
  values (v_root_id, v_lane_id, 2, v_now, bench.way_id(), bench.destination_id(), bench.stream_id(), bench.rail_id(), 5, v_instruction, bench.root_effect(),
          bench.hash(), bench.root_bytes(), bench.root_payload(), 'root', bench.root_binds(), 'default'),
         (v_reply_id, v_lane_id, 3, v_now, bench.way_id(), bench.destination_id(), bench.stream_id(), bench.rail_id(), 5, v_instruction, bench.reply_effect(),
          bench.hash(), bench.reply_bytes(), bench.reply_payload(), null, bench.reply_binds(), 'default');
  insert into notify.notifications (id, workspace_id, recipient_kind, recipient, idempotency_key, category, cause, about, title, body, channels,
                                    priority, critical, created_at, expires_at)
  values (v_told_id, 'default', 'member', 'ann', p_request_id || bench.told_key(), 'requests', 'COMMERCIAL_APPROVED', p_request_id, bench.title(),
          bench.body(), '{in-app}', 5, false, v_now, v_expires)
  on conflict (workspace_id, recipient_kind, recipient, idempotency_key, (cause is null)) do nothing;
  insert into notify.parts (notification_id, channel, state, workspace_id, recipient_kind, recipient, priority, due_at, expires_at)
  values (v_told_id, 'in-app', 'shown', 'default', 'member', 'ann', 5, v_now, v_expires);
  return p_request_id;
end
$$;
