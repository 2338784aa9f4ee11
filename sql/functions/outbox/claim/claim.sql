-- Leases due rows of one stream to a relay and writes their DISPATCHING lines in the same transaction, so that a claim and its lines in the
-- archive become visible together.
--
-- Ordered streams lease lanes: only heads can be due, and a leased lane gives a run of consecutive rows. Lanes that hold anything special
-- (see pending.special) are left to claim_special_lanes, and those that go to a destination to claim_queues, so that the common path reads
-- only what it must. Streams without order lease rows, which leave the pending table here.
--
-- It waits for no row lock: what another session holds is left for the next claim. Two seconds bound every other wait.
--
-- It reads only rows whose way is open (open_ways). Rows by rails that the relay lacks, or that the stream may not use, wait.
--
-- p_since_ms bounds the scan from below: entries of finished rows pile up at the low end of the index while any old transaction is open,
-- and a relay that has just drained the stream need not read them. Null scans everything.
--
-- p_max_rows bounds a claim; on ordered streams it may return twice as many, so that a relay can learn how long runs are. p_max_bytes
-- bounds the size of the payloads of one claim; the first row passes whatever its size. p_in_flight: see open_queues.
--
-- The rows are gathered as one narrow array, in sending order, and each payload is read once, at the end: carrying payloads through the
-- other steps and a sort took a fifth of a claim's time. The output follows the array because only nested loops are left to join with; a
-- relay checks the order nevertheless.
--
-- Join methods that read whole tables are off, because the planner cannot know how few rows an array holds. Plans are made once, because
-- planning each call took longer than running it. Functions that are called from here inherit both.
create or replace function outbox.claim(
  p_relay_id integer, p_stream_id smallint, p_max_rows integer, p_max_lanes integer default 100, p_since_ms bigint default null,
  p_max_bytes bigint default 8388608, p_in_flight jsonb default null
) returns setof outbox.claimed_row
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
as $$
declare
  v_stream outbox.streams;
  v_claim_id bigint;
  v_since timestamptz := coalesce(now() - p_since_ms * interval '1 ms', '-infinity');
  v_lanes bigint[];
  v_places tid[];
  v_head_seqs bigint[];
  v_limits smallint[];
  v_rows outbox.run_row[];
  v_bytes bigint;
  v_tried boolean;
  v_special uuid[];
  v_open integer;
  v_ways integer[];
  v_turns float8[];
  v_elsewhere boolean;
begin
  select * into v_stream from outbox.streams where stream_id = p_stream_id;
  if not found then
    perform headroom.fail('unknown_stream', format('There is no stream with the number %s.', p_stream_id));
  end if;

  select w.ways, w.turns into v_ways, v_turns from outbox.open_ways(p_stream_id, p_in_flight) w;

  -- Checked here because there is nearly always nothing to do.
  if exists (select
               from unnest(v_ways) w(way_id)
              cross join lateral (
                    select from outbox.heads h
                     where v_stream.ordered and h.stream_id = p_stream_id and h.way_id = w.way_id and h.destination_id > 0
                       and h.claim_id is null and not h.blocked and h.due >= v_since
                    union all
                    select from outbox.pending_unordered u
                     where not v_stream.ordered and u.stream_id = p_stream_id and u.way_id = w.way_id and u.destination_id > 0
                       and u.due >= v_since) b) then
    return query select * from outbox.claim_queues(p_relay_id, v_stream, p_max_rows, p_max_bytes, v_since, p_in_flight, v_ways);
  end if;
  if v_stream.ordered then
    select array_agg(h.lane_id), array_agg(h.place), array_agg(h.head_seq), array_agg(coalesce(h.run_limit, v_stream.run_length))
      into v_lanes, v_places, v_head_seqs, v_limits
      from (select d.*
              from (select w.way_id, l.priority
                      from unnest(v_ways, v_turns) with ordinality w(way_id, turn, ord) cross join generate_series(0, 9) l(priority)
                     order by w.turn, l.priority desc, w.ord) turn
             cross join lateral (
                   select h.lane_id, h.ctid as place, h.head_seq, h.run_limit from outbox.heads h
                    where h.stream_id = p_stream_id and h.way_id = turn.way_id and h.destination_id = 0
                      and h.priority = turn.priority and h.claim_id is null and not h.blocked
                      and h.due <= now() and h.due >= v_since
                    order by h.due limit p_max_lanes for update skip locked) d
             limit p_max_lanes) h;
    if v_lanes is null then
      return;
    end if;
    v_claim_id := nextval('outbox.claim_ids');
    select array_agg(row(r.lane_id, r.place, r.seq, r.outbox_id, r.line, r.tries, r.uncertain, r.first_sent_at, r.payload_hash,
                         r.bytes)::outbox.run_row),
           sum(r.bytes), bool_or(r.elsewhere)
      into v_rows, v_bytes, v_elsewhere
      from (select p.lane_id, n.place, p.seq, p.outbox_id, p.lines + 1 as line, p.tries, p.uncertain, p.first_sent_at, p.payload_hash,
                   p.bytes, p.way_id <> all (v_ways) as elsewhere
              from unnest(v_lanes, v_places, v_head_seqs, v_limits) with ordinality n(lane_id, place, head_seq, run_limit, ord)
             cross join lateral (
                   select p.lane_id, p.seq, p.outbox_id, p.lines, p.tries, p.uncertain, p.first_sent_at, p.payload_hash, p.bytes,
                          p.way_id
                     from outbox.pending p
                    where p.lane_id = n.lane_id and p.seq >= n.head_seq
                      and p.seq < coalesce((select s.seq from outbox.pending s
                                             where s.lane_id = n.lane_id and s.special and s.seq >= n.head_seq
                                             order by s.seq limit 1), 9223372036854775807)
                    order by p.seq limit least(n.run_limit, greatest(1, 2 * p_max_rows / cardinality(v_lanes)))) p
             order by n.ord, p.seq) r;
    if v_elsewhere then
      -- A run ends where the way of the next row is not open.
      select array_agg(r.run_row order by r.ord) into v_rows
        from (select row(r.lane_id, r.place, r.seq, r.outbox_id, r.line, r.tries, r.uncertain, r.first_sent_at, r.payload_hash,
                         r.bytes)::outbox.run_row as run_row,
                     r.ordinality as ord, bool_or(p.way_id <> all (v_ways)) over (partition by r.lane_id order by r.seq) as elsewhere
                from unnest(v_rows) with ordinality r join outbox.pending p on p.lane_id = r.lane_id and p.seq = r.seq) r
       where not r.elsewhere;
    end if;
    if v_bytes > p_max_bytes then
      -- Lanes whose rows are left for the next claim are not special.
      v_lanes := array(select l.lane_id from unnest(v_lanes) l(lane_id) where l.lane_id not in (select r.lane_id from unnest(v_rows) r));
      v_rows := outbox.first_bytes(v_rows, p_max_bytes);
    end if;
    if v_rows is not null then
      with lane as materialized (
        select r.lane_id, r.place, min(r.seq) as from_seq, max(r.seq) as to_seq
          from unnest(v_rows) r group by r.lane_id, r.place
      ), leased as (
        update outbox.heads h set claim_id = v_claim_id, head_seq = l.from_seq, claimed_to = l.to_seq, misses = 0
          from lane l where h.ctid = l.place
      )
      insert into outbox.claims (claim_id, stream_id, relay_id, lease_until, open, lane_ids)
      select v_claim_id, p_stream_id, p_relay_id, now() + v_stream.lease_seconds * interval '1 s', count(*), array_agg(l.lane_id)
        from lane l
      returning open into v_open;
      insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, relay_id, claim_id, uncertain, payload_hash)
      select r.outbox_id, r.line, v_stream.class_id, p_stream_id, 'DISPATCHING', p_relay_id, v_claim_id, r.uncertain, r.payload_hash
        from unnest(v_rows) r;
      return query
      select v_claim_id, r.lane_id, r.seq, r.outbox_id, r.line, r.tries, r.uncertain,
             m.rail_id, k.key, m.instruction_id, m.idempotency_key, m.payload::text, null::integer, null::text,
             (extract(epoch from now() - r.first_sent_at) * 1000)::bigint, m.captures::text, m.binds is not null, m.tenant_id
        from unnest(v_rows) r
        join outbox.payloads m on m.outbox_id = r.outbox_id
        join outbox.lanes k on k.lane_id = r.lane_id;
    end if;

    if (case when v_bytes > p_max_bytes then cardinality(v_lanes) > 0 else v_open is distinct from cardinality(v_lanes) end) then
      return query
      select * from outbox.claim_special_lanes(
        v_claim_id, p_relay_id, v_stream, v_lanes, array_fill(0, array[cardinality(v_lanes)]), p_max_bytes);
    end if;
    return;
  end if;

  select array_agg(row(null, d.place, null, d.outbox_id, d.lines + 1, d.tries, d.uncertain, d.first_sent_at, d.payload_hash,
                       d.bytes)::outbox.run_row)
           filter (where d.plain),
         array_agg(d.outbox_id) filter (where not d.plain), bool_or(d.lines > 0), sum(d.bytes)
    into v_rows, v_special, v_tried, v_bytes
    from (select d.*
            from (select w.way_id, l.priority
                    from unnest(v_ways, v_turns) with ordinality w(way_id, turn, ord) cross join generate_series(0, 9) l(priority)
                   order by w.turn, l.priority desc, w.ord) turn
           cross join lateral (
                 select u.ctid as place, u.outbox_id, u.lines, u.tries, u.uncertain, u.first_sent_at, u.payload_hash, u.bytes,
                        u.expires_at is null or u.expires_at > now() as plain
                   from outbox.pending_unordered u
                  where u.stream_id = p_stream_id and u.way_id = turn.way_id and u.destination_id = 0 and u.priority = turn.priority
                    and u.due <= now() and u.due >= v_since
                  order by u.due limit p_max_rows for update skip locked) d
           limit p_max_rows) d;
  if v_bytes > p_max_bytes then
    v_rows := outbox.first_bytes(v_rows, p_max_bytes);
  end if;
  if v_rows is not null then
    v_claim_id := nextval('outbox.claim_ids');
    delete from outbox.pending_unordered u where u.ctid = any (array(select r.place from unnest(v_rows) r));
    if v_tried then
      insert into outbox.claims (claim_id, stream_id, relay_id, lease_until, open, outbox_ids, lines, tries, uncertain, first_sent_at)
      select v_claim_id, p_stream_id, p_relay_id, now() + v_stream.lease_seconds * interval '1 s', count(*), array_agg(r.outbox_id),
             array_agg(r.line),
             array_agg(r.tries), array_agg(r.uncertain), array_agg(r.first_sent_at)
        from unnest(v_rows) r;
    else
      insert into outbox.claims (claim_id, stream_id, relay_id, lease_until, open, outbox_ids, lines)
      select v_claim_id, p_stream_id, p_relay_id, now() + v_stream.lease_seconds * interval '1 s', count(*), array_agg(r.outbox_id),
             array_agg(r.line)
        from unnest(v_rows) r;
    end if;
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, relay_id, claim_id, uncertain, payload_hash)
    select r.outbox_id, r.line, v_stream.class_id, p_stream_id, 'DISPATCHING', p_relay_id, v_claim_id, r.uncertain, r.payload_hash
      from unnest(v_rows) r;
    return query
    select v_claim_id, null::bigint, null::bigint, r.outbox_id, r.line, r.tries, r.uncertain,
           m.rail_id, m.key, m.instruction_id, m.idempotency_key, m.payload::text, null::integer, null::text,
           (extract(epoch from now() - r.first_sent_at) * 1000)::bigint, m.captures::text, m.binds is not null, m.tenant_id
      from unnest(v_rows) r
      join outbox.payloads m on m.outbox_id = r.outbox_id;
  end if;
  if v_special is not null then
    return query select * from outbox.claim_special_rows(nextval('outbox.claim_ids'), p_relay_id, v_stream, v_special, p_max_bytes);
  end if;
end
$$;
comment on function outbox.claim(integer, smallint, integer, integer, bigint, bigint, jsonb)
  is 'Leases due rows of a stream to a relay, in the order in which they must be sent.';
