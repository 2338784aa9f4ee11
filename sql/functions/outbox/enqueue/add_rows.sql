-- Adds many rows in one statement's worth of work. Idempotency keys and lanes are each taken in the order that all callers use
-- (docs/architecture.md), so two producers whose sets overlap wait for one another and never deadlock. Rows of one key are numbered in
-- the order of the array.
--
-- p_checked: for an application, which came through outbox.enqueue_many(). Rows of our own functions may name their tenant (tenant_id).
create or replace function outbox.add_rows(p_checked boolean, p_rows jsonb)
returns table (ord integer, outbox_id uuid, seq bigint, created boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  -- Ids of one moment share this prefix, version included; after it come random bits, and the class.
  v_moment bytea := substring(uuid_send(outbox.new_id(0::smallint)) from 1 for 7);
  v_wanted integer := jsonb_array_length(p_rows);
  v_writer text := case when p_checked then outbox.enqueuer() else '' end;
  v_ords integer[];
  v_ids uuid[];
  v_seqs bigint[];
  v_stream text;
  v_returned integer;
  v_found integer;
begin
  if v_wanted > 10000 then
    perform headroom.fail('invalid_input', format('At most 10000 rows at once, not %s.', v_wanted), null, 'Send them in several calls.');
  end if;
  with queue as materialized (
    select q.name, q.tenant_id, outbox.destination_id(q.name, q.tenant_id) as destination_id
      from (select distinct r ->> 'destination' as name, case when not p_checked then r ->> 'tenant_id' end as tenant_id
              from jsonb_array_elements(p_rows) r where length(r ->> 'destination') between 1 and 200) q
  ), parsed as materialized (
    select r.*, n.ord::integer as ord, s as stream_row, s.stream_id, s.class_id, s.ordered, rl.rail_id, rl.guarded, d.destination_id,
           coalesce(r.priority, 5) as prio,
           r.payload::text as body, octet_length(r.payload::text) as bytes, gen_random_uuid() as salt,
           case when p_checked
             then jsonb_build_array(r.rail, r.key, coalesce(r.priority, 5), r.coalesce_key, r.destination,
                                    extract(epoch from r.expires_at), r.captures, r.binds, extract(epoch from r.not_before)) end as terms
      from jsonb_array_elements(p_rows) with ordinality n(doc, ord)
     cross join lateral jsonb_to_record(n.doc) r(
             stream text, key text, instruction_id text, idempotency_key text, rail text, payload jsonb, priority integer,
             not_before timestamptz, expires_at timestamptz, coalesce_key text, destination text, captures jsonb, binds jsonb,
             tenant_id text)
      left join outbox.streams s on s.name = r.stream
      left join outbox.rails rl on rl.name = r.rail
      left join queue d on d.name = r.destination and d.tenant_id is not distinct from case when not p_checked then r.tenant_id end
  ), input as materialized (
    select p.*,
           encode(set_byte(overlay(uuid_send(gen_random_uuid()) placing v_moment from 1 for 7), 7, p.class_id), 'hex')::uuid
             as new_outbox_id,
           sha256(uuid_send(p.salt) || convert_to(p.body, 'UTF8')) as hash,
           greatest(v_now, p.not_before) as due, outbox.check_times(p.not_before, p.expires_at),
           outbox.check_row(p.stream_row, p.stream, p_checked, p.rail_id, p.rail, p.key, p.instruction_id, p.idempotency_key, p.bytes,
                            p.bytes > 130 and headroom.too_deep(p.payload, p.body), p.prio, p.coalesce_key, p.destination, p.captures,
                            p.binds),
           case when p_checked and p.guarded then outbox.check_rail(p.stream_row, p.rail_id, p.rail) end
      from parsed p
  ), deduped as (
    insert into outbox.dedupe as d (stream_id, instruction_id, idempotency_key, outbox_id, salt, payload_hash, created_at, terms)
    select i.stream_id, i.instruction_id, i.idempotency_key, i.new_outbox_id, i.salt, i.hash, v_now,
           hashtextextended(
             i.salt::text || case when i.not_before <= v_now then jsonb_set(i.terms, '{8}', 'null') else i.terms end::text, 0)
      from input i order by i.stream_id, i.instruction_id, i.idempotency_key, i.ord
    on conflict do nothing
    returning d.outbox_id
  ), fresh as materialized (
    select i.*, row_number() over (partition by i.stream_id, i.key order by i.ord) as nth
      from input i where i.new_outbox_id in (select outbox_id from deduped)
  ), lane as (
    insert into outbox.lanes as l (stream_id, key, next_seq, idle_at)
    select f.stream_id, f.key, 1 + count(*), 1 from fresh f where f.ordered group by f.stream_id, f.key order by f.stream_id, f.key
    on conflict (stream_id, key) do update set next_seq = l.next_seq + excluded.next_seq - 1
    returning l.lane_id, l.stream_id, l.key, l.next_seq, l.idle_at
  ), counted as (
    select l.*, l.next_seq - max(f.nth) as first_seq from lane l join fresh f on f.ordered and f.stream_id = l.stream_id and f.key = l.key
     group by l.lane_id, l.stream_id, l.key, l.next_seq, l.idle_at
  ), way as materialized (
    select f.stream_id, f.rail_id, outbox.way_id(f.stream_id, f.rail_id, v_writer) as way_id
      from (select distinct f.stream_id, f.rail_id from fresh f) f
  ), numbered as materialized (
    -- Not joined: with one more join here, lanes were compared with every row.
    select f.*, c.lane_id, c.first_seq + f.nth - 1 as new_seq, c.idle_at,
           (select w.way_id from way w where w.stream_id = f.stream_id and w.rail_id = f.rail_id) as way_id
      from fresh f left join counted c on f.ordered and c.stream_id = f.stream_id and c.key = f.key
  ), payload as (
    insert into outbox.payloads (outbox_id, lane_id, seq, created_at, expires_at, destination_id, stream_id, rail_id, priority,
                                 instruction_id, idempotency_key, payload_hash, bytes, payload, key, coalesce_key, captures, binds,
                                 tenant_id, way_id)
    select n.new_outbox_id, n.lane_id, n.new_seq, v_now, n.expires_at, n.destination_id, n.stream_id, n.rail_id, n.prio,
           n.instruction_id, n.idempotency_key, n.hash, n.bytes, n.payload, case when not n.ordered then n.key end, n.coalesce_key,
           n.captures, n.binds, case when not p_checked then n.tenant_id end, n.way_id
      from numbered n
  ), pending as (
    insert into outbox.pending (lane_id, seq, outbox_id, due, expires_at, destination_id, priority, special, bytes, payload_hash,
                                coalesce_key, way_id)
    select n.lane_id, n.new_seq, n.new_outbox_id, n.due, n.expires_at, n.destination_id, n.prio,
           n.not_before > v_now is true or n.expires_at is not null or n.coalesce_key is not null or n.destination_id is not null,
           n.bytes, n.hash, n.coalesce_key, n.way_id
      from numbered n where n.ordered
  ), head as (
    insert into outbox.heads (lane_id, stream_id, way_id, destination_id, priority, due, head_seq)
    select n.lane_id, n.stream_id, n.way_id, coalesce(n.destination_id, 0), n.prio, n.due, n.new_seq from numbered n
     where n.ordered and n.new_seq = n.idle_at
  ), unordered as (
    insert into outbox.pending_unordered (outbox_id, stream_id, way_id, priority, due, expires_at, destination_id, bytes, payload_hash)
    select n.new_outbox_id, n.stream_id, n.way_id, n.prio, n.due, n.expires_at, coalesce(n.destination_id, 0), n.bytes, n.hash
      from numbered n where not n.ordered
  )
  select array_agg(n.ord order by n.ord), array_agg(n.new_outbox_id order by n.ord), array_agg(n.new_seq order by n.ord)
    into v_ords, v_ids, v_seqs
    from numbered n;
  return query select f.ord, f.id, f.seq, true from unnest(v_ords, v_ids, v_seqs) f(ord, id, seq);

  for v_stream in select distinct r ->> 'stream' from jsonb_array_elements(p_rows) r loop
    perform outbox.wake_relays(v_stream);
  end loop;

  if coalesce(cardinality(v_ords), 0) < v_wanted then
    v_returned := coalesce(cardinality(v_ords), 0);
    return query
    select n.ord::integer, e.outbox_id, e.seq, false
      from jsonb_array_elements(p_rows) with ordinality n(doc, ord)
      join outbox.streams s on s.name = n.doc ->> 'stream'
     cross join lateral outbox.existing_row(s.stream_id, n.doc ->> 'instruction_id', n.doc ->> 'idempotency_key',
                                            (n.doc -> 'payload')::text, case when p_checked then outbox.terms_of(n.doc) end) e
     where (v_ords is null or n.ord <> all (v_ords)) and e.outbox_id is not null;
    get diagnostics v_found = row_count;
    if v_returned + v_found < v_wanted then
      perform headroom.fail('try_again', 'An idempotency key was forgotten while it was looked up.', null,
        'Nothing was written. Send the rows again.');
    end if;
  end if;
end
$$;
comment on function outbox.add_rows(boolean, jsonb)
  is 'Adds an array of rows in the caller''s transaction; one result per element. Nullable: seq.';
