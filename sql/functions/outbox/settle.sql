-- Records what came of claimed rows of one stream, and moves their lanes on. The arrays run in parallel, one element per
-- row; rows of a lane stand in sending order and begin with the first that is not settled yet.
--
-- The lease is the fence: a claim that has been reaped is gone, and a lane that went on has another claim, so a late
-- result changes nothing. The unique line number is its backstop. Late rows are returned, to be counted and logged.
--
-- p_outcomes: delivered, retry, unknown, rejected, released, skipped; null when all are delivered.
-- p_exceptions: an array of {n, code, message, afterMs, throttled, absent} for the others, n counting from 1.
-- p_captures: an array of {n, values} of delivered rows. p_destination_ids: where limits apply.
create or replace function outbox.settle(
  p_stream_id smallint,
  p_claim_ids bigint[],
  p_lane_ids bigint[],
  p_seqs bigint[],
  p_outbox_ids uuid[],
  p_attempt_nos integer[],
  p_latencies_ms integer[],
  p_rail_codes text[] default null,
  p_rail_references text[] default null,
  p_outcomes text[] default null,
  p_exceptions jsonb default null,
  p_captures jsonb default null,
  p_destination_ids integer[] default null
) returns setof uuid
language plpgsql volatile security definer
set search_path = '' set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set jit = off
as $$
declare
  v_stream outbox.streams;
  v_live bigint[];
  v_done_lanes bigint[];
  v_done_seqs bigint[];
  v_open_lanes bigint[];
  v_open_seqs bigint[];
  v_settled integer;
begin
  select * into v_stream from outbox.streams where stream_id = p_stream_id;
  select array_agg(c.claim_id) into v_live
    from (select c.claim_id from outbox.claims c
           where c.claim_id in (select distinct u from unnest(p_claim_ids) u) order by c.claim_id for update) c;

  if v_stream.ordered then
    with given as materialized (
      select g.* from unnest(p_claim_ids, p_lane_ids, p_seqs, p_outbox_ids, p_attempt_nos, p_latencies_ms, p_rail_codes, p_rail_references, p_outcomes)
                   g(claim_id, lane_id, seq, outbox_id, attempt_no, latency_ms, rail_code, rail_reference, outcome)
    ), lane as materialized (
      select h.lane_id, h.head_seq, h.claimed_to, g.claim_id, g.to_seq, g.whole
        from (select g.lane_id, g.claim_id, max(g.seq) as to_seq, bool_and(coalesce(g.outcome, 'delivered') = 'delivered') as whole
                from given g group by g.lane_id, g.claim_id) g
        join outbox.heads h on h.lane_id = g.lane_id and h.claim_id = g.claim_id
       where g.claim_id = any (v_live)
         for update of h
    ), line as (
      insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, claim_id, latency_ms, rail_code, rail_reference)
      select g.outbox_id, g.attempt_no + 1, v_stream.class_id, p_stream_id, 'DISPATCHED', g.claim_id, g.latency_ms, g.rail_code, g.rail_reference
        from given g join lane l on l.lane_id = g.lane_id and l.claim_id = g.claim_id
       where coalesce(g.outcome, 'delivered') = 'delivered' and g.seq between l.head_seq and l.claimed_to
      on conflict do nothing
      returning outbox_id
    ), gone as (
      delete from outbox.pending p using lane l
       where p.lane_id = l.lane_id and p.seq between l.head_seq and l.to_seq and p.outbox_id in (select outbox_id from line)
    )
    select array_agg(l.lane_id) filter (where l.whole and l.to_seq >= l.claimed_to),
           array_agg(l.to_seq + 1) filter (where l.whole and l.to_seq >= l.claimed_to),
           array_agg(l.lane_id) filter (where l.whole and l.to_seq < l.claimed_to),
           array_agg(l.to_seq + 1) filter (where l.whole and l.to_seq < l.claimed_to),
           (select count(*) from line)
      into v_done_lanes, v_done_seqs, v_open_lanes, v_open_seqs, v_settled
      from lane l;
  else
    with line as (
      insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, claim_id, latency_ms, rail_code, rail_reference)
      select g.outbox_id, g.attempt_no + 1, v_stream.class_id, p_stream_id, 'DISPATCHED', g.claim_id, g.latency_ms, g.rail_code, g.rail_reference
        from unnest(p_claim_ids, p_outbox_ids, p_attempt_nos, p_latencies_ms, p_rail_codes, p_rail_references, p_outcomes)
             g(claim_id, outbox_id, attempt_no, latency_ms, rail_code, rail_reference, outcome)
       where coalesce(g.outcome, 'delivered') = 'delivered' and g.claim_id = any (v_live)
      on conflict do nothing
      returning outbox_id, claim_id
    ), counted as (
      select l.claim_id, count(*) as settled from line l group by l.claim_id
    ), closed as (
      delete from outbox.claims c using counted n where c.claim_id = n.claim_id and c.open <= n.settled
    ), lowered as (
      update outbox.claims c set open = c.open - n.settled from counted n where c.claim_id = n.claim_id and c.open > n.settled
    )
    select coalesce(sum(n.settled), 0) into v_settled from counted n;
  end if;

  if v_open_lanes is not null then
    update outbox.heads h set head_seq = o.seq from unnest(v_open_lanes, v_open_seqs) o(lane_id, seq) where h.lane_id = o.lane_id;
  end if;
  if p_captures is not null then
    perform outbox.store_captures(p_captures, p_outbox_ids);
  end if;
  if v_done_lanes is not null then
    perform outbox.close_lanes(v_done_lanes);
    perform outbox.advance_lanes(v_done_lanes, v_done_seqs);
  end if;
  if p_outcomes is not null then
    if v_stream.ordered then
      v_settled := v_settled + outbox.settle_lane_exceptions(
        v_stream, v_live, p_claim_ids, p_lane_ids, p_seqs, p_outbox_ids, p_attempt_nos, p_latencies_ms, p_outcomes, p_exceptions);
    else
      v_settled := v_settled + outbox.settle_row_exceptions(
        v_stream, v_live, p_claim_ids, p_outbox_ids, p_attempt_nos, p_latencies_ms, p_outcomes, p_exceptions);
    end if;
  end if;
  if p_destination_ids is not null then
    perform outbox.note_destinations(p_destination_ids, p_outcomes, p_exceptions);
  end if;

  if v_settled < cardinality(p_outbox_ids) then
    return query
    select g.outbox_id from unnest(p_claim_ids, p_outbox_ids, p_attempt_nos) g(claim_id, outbox_id, attempt_no)
     where not exists (select from outbox.attempts a
                        where a.outbox_id = g.outbox_id and a.class_id = v_stream.class_id and a.attempt_no = g.attempt_no + 1 and a.claim_id = g.claim_id);
  end if;
end
$$;
comment on function outbox.settle(smallint, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[], jsonb, jsonb, integer[])
  is 'Records outcomes of claimed rows and moves their lanes on; returns the rows whose result came too late.';
