-- Adds one row in the caller's transaction. The insert into dedupe decides: a repeat returns the row that is there
-- and touches nothing else. The lane's row lock, held until commit, is what makes numbers gapless: a rolled-back
-- enqueue gives its number back.
create or replace function outbox.enqueue(
  p_stream text,
  p_key text,
  p_instruction_id text,
  p_idempotency_key text,
  p_rail text,
  p_payload jsonb,
  p_priority integer default 5,
  p_not_before timestamptz default null,
  p_expires_at timestamptz default null,
  p_coalesce_key text default null,
  p_destination text default null,
  p_captures jsonb default null,
  p_binds jsonb default null,
  out outbox_id uuid,
  out seq bigint,
  out created boolean
)
language plpgsql volatile security definer set search_path = ''
as $$
#variable_conflict use_column
declare
  v_stream outbox.streams;
  v_rail_id smallint;
  v_destination_id integer;
  v_text text := p_payload::text;
  v_hash bytea := sha256(convert_to(v_text, 'UTF8'));
  v_now timestamptz := clock_timestamp();
  v_due timestamptz := greatest(v_now, p_not_before);
  v_id uuid;
  v_seq bigint;
begin
  select * into v_stream from outbox.streams where name = p_stream;
  select rail_id into v_rail_id from outbox.rails where name = p_rail;
  perform outbox.check_row(v_stream, p_stream, v_rail_id, p_rail, p_key, p_instruction_id, p_idempotency_key,
                           octet_length(v_text), p_priority, p_coalesce_key, p_destination);
  if p_destination is not null then
    v_destination_id := outbox.destination_id(p_destination);
  end if;
  v_id := outbox.new_id(v_stream.class_id);

  if v_stream.ordered then
    with fresh as (
      insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, payload_hash, created_at)
      values (v_stream.stream_id, p_instruction_id, p_idempotency_key, v_id, v_hash, v_now)
      on conflict do nothing
      returning outbox_id
    ), lane as (
      insert into outbox.lanes as l (stream_id, key, next_seq, idle_at)
      select v_stream.stream_id, p_key, 2, 1 from fresh
      on conflict (stream_id, key) do update set next_seq = l.next_seq + 1
      returning l.lane_id, l.next_seq - 1 as seq, l.idle_at
    ), payload as (
      insert into outbox.payloads (outbox_id, lane_id, seq, created_at, expires_at, destination_id, stream_id, rail_id, priority,
                                   instruction_id, idempotency_key, payload_hash, payload, coalesce_key, captures, binds)
      select v_id, l.lane_id, l.seq, v_now, p_expires_at, v_destination_id, v_stream.stream_id, v_rail_id, p_priority,
             p_instruction_id, p_idempotency_key, v_hash, p_payload, p_coalesce_key, p_captures, p_binds
        from lane l
    ), pending as (
      insert into outbox.pending (lane_id, seq, outbox_id, due, expires_at, destination_id, priority, special, coalesce_key)
      select l.lane_id, l.seq, v_id, v_due, p_expires_at, v_destination_id, p_priority,
             p_not_before > v_now is true or p_expires_at is not null or p_coalesce_key is not null or v_destination_id is not null,
             p_coalesce_key
        from lane l
    ), head as (
      insert into outbox.heads (lane_id, stream_id, priority, due, head_seq)
      select l.lane_id, v_stream.stream_id, p_priority, v_due, l.seq from lane l where l.idle_at = l.seq
    )
    select l.seq into v_seq from lane l;
    created := found;
  else
    with fresh as (
      insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, payload_hash, created_at)
      values (v_stream.stream_id, p_instruction_id, p_idempotency_key, v_id, v_hash, v_now)
      on conflict do nothing
      returning outbox_id
    ), payload as (
      insert into outbox.payloads (outbox_id, created_at, expires_at, destination_id, stream_id, rail_id, priority,
                                   instruction_id, idempotency_key, payload_hash, payload, key, captures, binds)
      select v_id, v_now, p_expires_at, v_destination_id, v_stream.stream_id, v_rail_id, p_priority,
             p_instruction_id, p_idempotency_key, v_hash, p_payload, p_key, p_captures, p_binds
        from fresh
    )
    insert into outbox.pending_unordered (outbox_id, stream_id, priority, due, expires_at, destination_id)
    select v_id, v_stream.stream_id, p_priority, v_due, p_expires_at, v_destination_id from fresh;
    created := found;
  end if;

  if created then
    outbox_id := v_id;
    seq := v_seq;
    if v_due = v_now then
      perform outbox.wake_relays(v_stream.name);
    end if;
    return;
  end if;
  select e.outbox_id, e.seq into outbox_id, seq
    from outbox.existing_row(v_stream.stream_id, p_instruction_id, p_idempotency_key, v_hash) e;
  if outbox_id is null then
    -- The key was forgotten between the two looks: it is new again.
    select e.outbox_id, e.seq, e.created into outbox_id, seq, created
      from outbox.enqueue(p_stream, p_key, p_instruction_id, p_idempotency_key, p_rail, p_payload, p_priority, p_not_before, p_expires_at,
                          p_coalesce_key, p_destination, p_captures, p_binds) e;
  end if;
end
$$;
comment on function outbox.enqueue(text, text, text, text, text, jsonb, integer, timestamptz, timestamptz, text, text, jsonb, jsonb)
  is 'Adds one row to a stream in the caller''s transaction, once per (stream, instruction, idempotency key). Nullable: seq.';
