-- Adds two rows of one lane together, for callers inside the database whose instruction is created in the same transaction: an event with
-- two messages for the same people. It runs one statement per table and reads the settings together with the lane; calling add_row() twice
-- took nearly twice as long. If a key was used before or a row is bad, add_row() handles the rows one by one and answers or refuses.
--
-- The caller holds a lock that everybody on the way to this lane must take, so the lane may be locked before the keys. Numbers that were
-- taken for rows that already exist are given back.
--
-- Returns how many rows there are, because a call whose result is assigned is evaluated in place, while `perform` runs a query.
create or replace function outbox.enqueue_pair(
  p_tenant_id text, p_stream text, p_key text, p_instruction_id text, p_rail text, p_destination text,
  p_first_key text, p_first_payload jsonb, p_first_coalesce_key text, p_first_binds jsonb,
  p_second_key text, p_second_payload jsonb, p_second_coalesce_key text, p_second_binds jsonb, p_priority integer default 5
) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_first_body bytea := convert_to(p_first_payload::text, 'UTF8');
  v_second_body bytea := convert_to(p_second_payload::text, 'UTF8');
  v_first_salt uuid := gen_random_uuid();
  v_second_salt uuid := gen_random_uuid();
  v_first_hash bytea := sha256(uuid_send(v_first_salt) || v_first_body);
  v_second_hash bytea := sha256(uuid_send(v_second_salt) || v_second_body);
  v_first_id uuid;
  v_second_id uuid;
  v_lane record;
  v_new integer := 0;
  v_woken text;
begin
  insert into outbox.lanes as l (stream_id, key, next_seq, idle_at)
  select s.stream_id, p_key, 3, 1 from outbox.streams s
   where s.name = p_stream and s.ordered and length(v_first_body) <= s.max_payload_bytes and length(v_second_body) <= s.max_payload_bytes
  on conflict (stream_id, key) do update set next_seq = l.next_seq + 2
  returning l.lane_id, l.stream_id, l.next_seq - 2 as seq, l.idle_at,
            (select s.class_id from outbox.streams s where s.stream_id = l.stream_id) as class_id,
            (select r.rail_id from outbox.rails r where r.name = p_rail) as rail_id,
            (select min(d.destination_id) from outbox.destinations d
              where d.name = p_destination and d.tenant_id is not distinct from p_tenant_id) as destination_id,
            (select min(w.way_id) from outbox.ways w join outbox.rails r on r.rail_id = w.rail_id
              where w.stream_id = l.stream_id and r.name = p_rail and w.writer = '') as way_id,
            exists (select from outbox.relays where wants_notify and seen_at > v_now - interval '3 minutes') as wake
    into v_lane;
  if v_lane.rail_id is not null then
    if v_lane.destination_id is null then
      v_lane.destination_id := outbox.destination_id(p_destination, p_tenant_id);
    end if;
    if v_lane.way_id is null then
      v_lane.way_id := outbox.way_id(v_lane.stream_id, v_lane.rail_id, '');
    end if;
    v_first_id := outbox.new_id(v_lane.class_id);
    v_second_id := outbox.new_id(v_lane.class_id);
    insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, salt, payload_hash, created_at)
    values (v_lane.stream_id, p_instruction_id, p_first_key, v_first_id, v_first_salt, v_first_hash, v_now),
           (v_lane.stream_id, p_instruction_id, p_second_key, v_second_id, v_second_salt, v_second_hash, v_now)
    on conflict do nothing;
    get diagnostics v_new = row_count;
  end if;
  if v_new < 2 then
    -- add_row() takes the number and the key again.
    update outbox.lanes l set next_seq = l.next_seq - 2 where l.lane_id = v_lane.lane_id;
    delete from outbox.dedupe d
     where d.outbox_id in (v_first_id, v_second_id) and d.stream_id = v_lane.stream_id and d.instruction_id = p_instruction_id;
    perform outbox.add_row(false, p_tenant_id, p_stream, p_key, p_instruction_id, p_first_key, p_rail, p_first_payload, p_priority,
                           p_coalesce_key => p_first_coalesce_key, p_destination => p_destination, p_binds => p_first_binds);
    perform outbox.add_row(false, p_tenant_id, p_stream, p_key, p_instruction_id, p_second_key, p_rail, p_second_payload, p_priority,
                           p_coalesce_key => p_second_coalesce_key, p_destination => p_destination, p_binds => p_second_binds);
    return 2;
  end if;

  with head as (
    insert into outbox.heads (lane_id, stream_id, way_id, destination_id, priority, due, head_seq)
    select v_lane.lane_id, v_lane.stream_id, v_lane.way_id, v_lane.destination_id, p_priority, v_now, v_lane.seq
     where v_lane.idle_at = v_lane.seq)
  insert into outbox.pending (lane_id, seq, outbox_id, due, destination_id, priority, special, bytes, payload_hash, coalesce_key,
                              way_id)
  values (v_lane.lane_id, v_lane.seq, v_first_id, v_now, v_lane.destination_id, p_priority, true, length(v_first_body), v_first_hash,
          p_first_coalesce_key, v_lane.way_id),
         (v_lane.lane_id, v_lane.seq + 1, v_second_id, v_now, v_lane.destination_id, p_priority, true, length(v_second_body), v_second_hash,
          p_second_coalesce_key, v_lane.way_id);
  insert into outbox.payloads (outbox_id, lane_id, seq, created_at, destination_id, stream_id, rail_id, priority,
                               instruction_id, idempotency_key, payload_hash, bytes, payload, coalesce_key, binds, tenant_id, way_id)
  values (v_first_id, v_lane.lane_id, v_lane.seq, v_now, v_lane.destination_id, v_lane.stream_id, v_lane.rail_id, p_priority,
          p_instruction_id, p_first_key, v_first_hash, length(v_first_body), p_first_payload, p_first_coalesce_key, p_first_binds,
          p_tenant_id, v_lane.way_id),
         (v_second_id, v_lane.lane_id, v_lane.seq + 1, v_now, v_lane.destination_id, v_lane.stream_id, v_lane.rail_id, p_priority,
          p_instruction_id, p_second_key, v_second_hash, length(v_second_body), p_second_payload, p_second_coalesce_key,
          p_second_binds, p_tenant_id, v_lane.way_id);
  -- The same rule as in wake_relays(), which says why.
  if v_lane.wake and coalesce(nullif(current_setting('outbox.notify', true), '') = 'on',
                              current_setting('max_prepared_transactions') = '0') then
    v_woken := pg_notify('outbox_pending', p_stream);
  end if;
  return 2;
end
$$;
comment on function outbox.enqueue_pair(text, text, text, text, text, text, text, jsonb, text, jsonb, text, jsonb, text, jsonb, integer)
  is 'Adds two new rows of one key in the caller''s transaction.';
