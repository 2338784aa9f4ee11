-- Adds one row in the caller's transaction. The insert into dedupe decides: a repeat returns the existing row and touches nothing else.
-- The lane's row lock, held until commit, makes numbers gapless: an enqueue that is rolled back gives its number back.
--
-- p_checked: for an application, which came through outbox.enqueue() and may write only what its role may. Our own functions call this
-- directly; they may write every stream and name the tenant of a row.
--
-- It writes nothing that a relay locks, and waits only for the same idempotency key or the same lane. Lock order: docs/architecture.md.
--
-- Plain inserts one after the other: as one statement with several parts they took a quarter longer, because a statement is set up again
-- for each row. Only if the row was not written does it find out what was wrong with it.
create or replace function outbox.add_row(
  p_checked boolean,
  p_tenant_id text,
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
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_text text := p_payload::text;
  v_salt uuid := gen_random_uuid();
  v_hash bytea := sha256(uuid_send(v_salt) || convert_to(v_text, 'UTF8'));
  v_bytes integer := octet_length(v_text);
  -- JSON with fewer bytes cannot have 65 levels.
  v_deep boolean := v_bytes > 130 and headroom.too_deep(p_payload, v_text);
  -- Where, when and how an application wants it sent, in the order of outbox.existing_row(); times as numbers, which do not depend on
  -- settings of the session.
  v_terms jsonb := case when p_checked
    then jsonb_build_array(p_rail, p_key, p_priority, p_coalesce_key, p_destination, extract(epoch from p_expires_at), p_captures, p_binds,
                           extract(epoch from p_not_before)) end;
  v_now timestamptz := clock_timestamp();
  v_due timestamptz := v_now;
  v_special boolean := false;
  v_destination_id integer := 0;
  v_stream_id smallint;
  v_class_id smallint;
  v_ordered boolean;
  v_writers name[];
  v_rail_id smallint;
  -- Our own functions are one writer, whichever role causes their rows. For others, the same as outbox.enqueuer(), without the call.
  v_writer text := case when p_checked then coalesce(nullif(nullif(current_setting('role', true), ''), 'none'), session_user) else '' end;
  v_way_id integer;
  v_id uuid;
  v_lane_id bigint;
  v_seq bigint;
  v_idle_at bigint;
  v_wake boolean;
begin
  if p_checked and (p_captures is not null or p_binds is not null or p_destination is not null) then
    -- What only few rows have is checked first, by the function that also names what is wrong.
    perform outbox.check_row(s, p_stream, p_checked, r.rail_id, p_rail, p_key, p_instruction_id, p_idempotency_key, v_bytes, v_deep,
                             p_priority, p_coalesce_key, p_destination, p_captures, p_binds)
       from (select) one left join outbox.streams s on s.name = p_stream left join outbox.rails r on r.name = p_rail;
  end if;
  if p_not_before is not null or p_expires_at is not null or p_coalesce_key is not null or p_destination is not null then
    perform outbox.check_times(p_not_before, p_expires_at);
    v_due := greatest(v_now, p_not_before);
    v_special := v_due > v_now or p_expires_at is not null or p_coalesce_key is not null or p_destination is not null;
    if p_destination is not null then
      v_destination_id := case when length(p_destination) between 1 and 200 then outbox.destination_id(p_destination, p_tenant_id) end;
    end if;
  end if;

  select s.stream_id, s.class_id, s.ordered, s.writers, r.rail_id,
         (select w.way_id from outbox.ways w
           where w.stream_id = s.stream_id and w.rail_id = r.rail_id and w.writer in (v_writer, '*')
           order by w.writer = '*', w.way_id limit 1),
         exists (select from outbox.relays where wants_notify and seen_at > v_now - interval '3 minutes')
    into v_stream_id, v_class_id, v_ordered, v_writers, v_rail_id, v_way_id, v_wake
    from outbox.streams s, outbox.rails r
   where s.name = p_stream and r.name = p_rail
     -- The same rules as check_row(), which names the one that is broken.
     and (not r.guarded or not p_checked
          or exists (select from outbox.stream_rails g where g.stream_id = s.stream_id and g.rail_id = r.rail_id and not g.leftover))
     and v_bytes <= s.max_payload_bytes and not v_deep
     and case when p_key is null then not s.ordered else length(p_key) between 1 and 512 and octet_length(p_key) <= 1024 end
     and length(p_instruction_id) between 1 and 512 and octet_length(p_instruction_id) <= 1024
     and length(p_idempotency_key) between 1 and 512 and octet_length(p_idempotency_key) <= 1024 and p_priority between 0 and 9
     and (not v_special or (v_destination_id is not null
                            and case when p_coalesce_key is null then true
                                     else s.ordered and length(p_coalesce_key) between 1 and 200 end));
  if found and (v_writers is null or not p_checked or outbox.may_write(v_writers)) then
    v_id := outbox.new_id(v_class_id);
    insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, salt, payload_hash, created_at, terms)
    values (v_stream_id, p_instruction_id, p_idempotency_key, v_id, v_salt, v_hash, v_now,
            -- A date in the past makes no difference.
            hashtextextended(
              v_salt::text || case when p_not_before <= v_now then jsonb_set(v_terms, '{8}', 'null') else v_terms end::text, 0))
    on conflict do nothing;
    if found then
      outbox_id := v_id;
      if v_way_id is null then
        v_way_id := outbox.way_id(v_stream_id, v_rail_id, v_writer);
      end if;
      if v_ordered then
        insert into outbox.lanes as l (stream_id, key, next_seq, idle_at) values (v_stream_id, p_key, 2, 1)
        on conflict (stream_id, key) do update set next_seq = l.next_seq + 1
        returning l.lane_id, l.next_seq - 1, l.idle_at into v_lane_id, v_seq, v_idle_at;
        insert into outbox.pending (lane_id, seq, outbox_id, due, expires_at, destination_id, priority, special, bytes, payload_hash,
                                    coalesce_key, way_id)
        values (v_lane_id, v_seq, v_id, v_due, p_expires_at, nullif(v_destination_id, 0), p_priority, v_special, v_bytes, v_hash,
                p_coalesce_key, v_way_id);
        seq := v_seq;
        if v_idle_at = v_seq then
          insert into outbox.heads (lane_id, stream_id, way_id, destination_id, priority, due, head_seq)
          values (v_lane_id, v_stream_id, v_way_id, v_destination_id, p_priority, v_due, v_seq);
        end if;
        insert into outbox.payloads (outbox_id, lane_id, seq, created_at, expires_at, destination_id, stream_id, rail_id, priority,
                                     instruction_id, idempotency_key, payload_hash, bytes, payload, coalesce_key, captures, binds,
                                     tenant_id, way_id)
        values (v_id, v_lane_id, v_seq, v_now, p_expires_at, nullif(v_destination_id, 0), v_stream_id, v_rail_id, p_priority,
                p_instruction_id, p_idempotency_key, v_hash, v_bytes, p_payload, p_coalesce_key, p_captures, p_binds, p_tenant_id,
                v_way_id);
      else
        insert into outbox.payloads (outbox_id, created_at, expires_at, destination_id, stream_id, rail_id, priority,
                                     instruction_id, idempotency_key, payload_hash, bytes, payload, key, captures, binds, tenant_id,
                                     way_id)
        values (v_id, v_now, p_expires_at, nullif(v_destination_id, 0), v_stream_id, v_rail_id, p_priority,
                p_instruction_id, p_idempotency_key, v_hash, v_bytes, p_payload, p_key, p_captures, p_binds, p_tenant_id, v_way_id);
        insert into outbox.pending_unordered (outbox_id, stream_id, way_id, priority, due, expires_at, destination_id, bytes, payload_hash)
        values (v_id, v_stream_id, v_way_id, p_priority, v_due, p_expires_at, v_destination_id, v_bytes, v_hash);
      end if;
    end if;
  end if;

  created := outbox_id is not null;
  if not created then
    select w.outbox_id, w.seq, w.created into outbox_id, seq, created
      from outbox.why_not_enqueued(p_checked, p_stream, p_key, p_instruction_id, p_idempotency_key, p_rail, v_text, v_deep,
                                   p_priority, p_coalesce_key, p_destination, p_captures, p_binds, v_terms) w;
    if outbox_id is null then
      -- The key was forgotten between the two statements, so it is new again.
      select e.outbox_id, e.seq, e.created into outbox_id, seq, created
        from outbox.add_row(p_checked, p_tenant_id, p_stream, p_key, p_instruction_id, p_idempotency_key, p_rail, p_payload, p_priority,
                            p_not_before, p_expires_at, p_coalesce_key, p_destination, p_captures, p_binds) e;
    end if;
  elsif v_wake and v_due = v_now
        -- The same rule as in wake_relays(), inlined because a call for each row would take too long.
        and coalesce(nullif(current_setting('outbox.notify', true), '') = 'on', current_setting('max_prepared_transactions') = '0') then
    perform pg_notify('outbox_pending', p_stream);
  end if;
end
$$;
comment on function outbox.add_row(boolean, text, text, text, text, text, text, jsonb, integer, timestamptz, timestamptz, text, text,
                                   jsonb, jsonb)
  is 'Adds one row to a stream in the caller''s transaction, once per (stream, instruction, idempotency key). Nullable: seq.';
