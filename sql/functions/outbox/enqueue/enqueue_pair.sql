-- Adds two rows of one lane at once, for callers inside the database whose instruction is as new as the transaction: an event with two
-- messages for the same people. One look at the settings, one bump of the lane and one statement a table; twice add_row() took nearly
-- twice as long. A key that was used before and a bad row are left to add_row(), one by one, which answers or refuses.
--
-- Returns how many rows there are: a call whose result is assigned is evaluated in place, one that is performed is a query.
create or replace function outbox.enqueue_pair(
  p_tenant_id text, p_stream text, p_key text, p_instruction_id text, p_rail text, p_destination text,
  p_first_key text, p_first_payload jsonb, p_first_coalesce_key text, p_first_binds jsonb,
  p_second_key text, p_second_payload jsonb, p_second_coalesce_key text, p_second_binds jsonb
) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_first_body bytea := convert_to(p_first_payload::text, 'UTF8');
  v_second_body bytea := convert_to(p_second_payload::text, 'UTF8');
  v_first_salt uuid := gen_random_uuid();
  v_second_salt uuid := gen_random_uuid();
  v_row record;
  v_lane record;
  v_new integer;
begin
  select s.stream_id, s.class_id, r.rail_id, outbox.destination_id(p_destination, p_tenant_id) as destination_id,
         null::uuid as first_id, null::uuid as second_id,
         sha256(uuid_send(v_first_salt) || v_first_body) as first_hash, sha256(uuid_send(v_second_salt) || v_second_body) as second_hash,
         exists (select from outbox.relays where wants_notify and seen_at > v_now - interval '3 minutes') as wake
    into v_row
    from outbox.streams s
    join outbox.rails r on r.name = p_rail
   where s.name = p_stream and s.ordered and length(v_first_body) <= s.max_payload_bytes and length(v_second_body) <= s.max_payload_bytes;
  if found then
    v_row.first_id := outbox.new_id(v_row.class_id);
    v_row.second_id := outbox.new_id(v_row.class_id);
    insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, salt, payload_hash, created_at)
    values (v_row.stream_id, p_instruction_id, p_first_key, v_row.first_id, v_first_salt, v_row.first_hash, v_now),
           (v_row.stream_id, p_instruction_id, p_second_key, v_row.second_id, v_second_salt, v_row.second_hash, v_now)
    on conflict do nothing;
    get diagnostics v_new = row_count;
    if v_new = 1 then
      -- One of the two is there already; add_row() takes the other's key anew.
      delete from outbox.dedupe d
       where d.outbox_id in (v_row.first_id, v_row.second_id) and d.stream_id = v_row.stream_id and d.instruction_id = p_instruction_id;
    end if;
  end if;
  if v_new is distinct from 2 then
    perform outbox.add_row(false, p_tenant_id, p_stream, p_key, p_instruction_id, p_first_key, p_rail, p_first_payload,
                           p_coalesce_key => p_first_coalesce_key, p_destination => p_destination, p_binds => p_first_binds);
    perform outbox.add_row(false, p_tenant_id, p_stream, p_key, p_instruction_id, p_second_key, p_rail, p_second_payload,
                           p_coalesce_key => p_second_coalesce_key, p_destination => p_destination, p_binds => p_second_binds);
    return 2;
  end if;

  insert into outbox.lanes as l (stream_id, key, next_seq, idle_at) values (v_row.stream_id, p_key, 3, 1)
  on conflict (stream_id, key) do update set next_seq = l.next_seq + 2
  returning l.lane_id, l.next_seq - 2 as seq, l.idle_at into v_lane;
  insert into outbox.pending (lane_id, seq, outbox_id, due, destination_id, priority, special, bytes, payload_hash, coalesce_key)
  values (v_lane.lane_id, v_lane.seq, v_row.first_id, v_now, v_row.destination_id, 5, true, length(v_first_body), v_row.first_hash,
          p_first_coalesce_key),
         (v_lane.lane_id, v_lane.seq + 1, v_row.second_id, v_now, v_row.destination_id, 5, true, length(v_second_body), v_row.second_hash,
          p_second_coalesce_key);
  if v_lane.idle_at = v_lane.seq then
    insert into outbox.heads (lane_id, stream_id, destination_id, priority, due, head_seq)
    values (v_lane.lane_id, v_row.stream_id, v_row.destination_id, 5, v_now, v_lane.seq);
  end if;
  insert into outbox.payloads (outbox_id, lane_id, seq, created_at, destination_id, stream_id, rail_id, priority,
                               instruction_id, idempotency_key, payload_hash, bytes, payload, coalesce_key, binds, tenant_id)
  values (v_row.first_id, v_lane.lane_id, v_lane.seq, v_now, v_row.destination_id, v_row.stream_id, v_row.rail_id, 5,
          p_instruction_id, p_first_key, v_row.first_hash, length(v_first_body), p_first_payload, p_first_coalesce_key, p_first_binds,
          p_tenant_id),
         (v_row.second_id, v_lane.lane_id, v_lane.seq + 1, v_now, v_row.destination_id, v_row.stream_id, v_row.rail_id, 5,
          p_instruction_id, p_second_key, v_row.second_hash, length(v_second_body), p_second_payload, p_second_coalesce_key,
          p_second_binds, p_tenant_id);
  -- As in wake_relays(), and there is why.
  if v_row.wake and coalesce(nullif(current_setting('outbox.notify', true), '') = 'on',
                             current_setting('max_prepared_transactions') = '0') then
    perform pg_notify('outbox_pending', p_stream);
  end if;
  return 2;
end
$$;
comment on function outbox.enqueue_pair(text, text, text, text, text, text, text, jsonb, text, jsonb, text, jsonb, text, jsonb)
  is 'Adds two new rows of one key in the caller''s transaction.';
