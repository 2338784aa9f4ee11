-- Records what came of claimed rows of one stream, and moves their lanes on. The arrays run in parallel, one element per
-- row; rows of a lane stand in sending order and begin with the first that is not settled yet. A null array, or one that
-- ends early, stands for nulls.
--
-- The lease is the fence: a claim that has been reaped is gone, and a lane that went on has another claim, so a late
-- result changes nothing. The unique line number is its backstop.
--
-- It waits for no row lock: results of a lane or a claim that an operator or the reaper holds at this moment come back as busy, and are to be
-- settled again; the others are settled. What else there is to wait for, two seconds bound.
--
-- Answers how many lines of each kind were written, those included that the call did not name, which rows came too late, which were given up
-- and which are busy.
--
-- p_outcomes: delivered, retry, unknown, rejected, released; null for delivered. p_codes is the receiver's code of a
-- delivery and the error code of everything else. p_captures: an array of {id, values} of delivered rows. p_sent_hashes: of rows whose
-- text was made when they were sent, as outbox.fill_binds() said; null for those that went out as they are stored.
create or replace function outbox.settle(
  p_stream_id smallint,
  p_claim_ids bigint[],
  p_lane_ids bigint[],
  p_seqs bigint[],
  p_outbox_ids uuid[],
  p_attempt_nos integer[],
  p_latencies_ms integer[] default null,
  p_codes text[] default null,
  p_references text[] default null,
  p_outcomes text[] default null,
  p_messages text[] default null,
  p_after_ms bigint[] default null,
  p_throttled boolean[] default null,
  p_absent boolean[] default null,
  p_destination_ids integer[] default null,
  p_captures jsonb default null,
  p_sent_hashes bytea[] default null,
  out delivered integer, out retried integer, out released integer, out failed integer, out late uuid[], out given_up uuid[], out busy uuid[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set plan_cache_mode = force_generic_plan set jit = off set lock_timeout = '2s'
as $$
declare
  v_stream outbox.streams;
  v_live bigint[];
  v_late uuid[];
  v_busy uuid[];
  v_lanes outbox.fenced_lane[];
  v_undelivered integer := 0;
  v_stray text;
begin
  if p_outcomes is not null then
    select count(*) filter (where o <> 'delivered'), max(o) filter (where o not in ('delivered', 'retry', 'unknown', 'rejected', 'released'))
      into v_undelivered, v_stray
      from unnest(p_outcomes) o;
    if v_stray is not null then
      perform headroom.fail('invalid_input', format('There is no outcome "%s".', left(v_stray, 80)), null,
        'Known: delivered, retry, unknown, rejected, released. Nothing was changed.');
    end if;
  end if;
  select * into v_stream from outbox.streams where stream_id = p_stream_id;
  select array_agg(c.claim_id) into v_live
    from (select c.claim_id from outbox.claims c
           where c.claim_id in (select distinct u from unnest(p_claim_ids) u) order by c.claim_id for update skip locked) c;

  if v_stream.ordered then
    v_lanes := outbox.fence_lanes(v_live, p_claim_ids, p_lane_ids, p_seqs, p_outcomes);
    if v_lanes is null then
      select l.late, l.busy into v_late, v_busy from outbox.late_in_lanes(v_live, p_claim_ids, p_lane_ids, p_seqs, p_outbox_ids) l;
      if v_late is null and v_busy is null then
        -- Whoever held a lane has let go of it meanwhile, and now it is ours.
        v_lanes := outbox.fence_lanes(v_live, p_claim_ids, p_lane_ids, p_seqs, p_outcomes);
      end if;
    end if;
  else
    select l.late, l.busy into v_late, v_busy from outbox.late_rows(v_stream, v_live, p_claim_ids, p_outbox_ids, p_attempt_nos) l;
  end if;
  if v_late is not null or v_busy is not null then
    with kept as (
      select g.* from rows from (
               unnest(p_claim_ids), unnest(p_lane_ids), unnest(p_seqs), unnest(p_outbox_ids), unnest(p_attempt_nos), unnest(p_latencies_ms),
               unnest(p_codes), unnest(p_references), unnest(p_outcomes), unnest(p_messages), unnest(p_after_ms), unnest(p_throttled),
               unnest(p_absent), unnest(p_destination_ids), unnest(p_sent_hashes)
             ) with ordinality g(claim_id, lane_id, seq, outbox_id, attempt_no, latency_ms, code, reference, outcome, message, after_ms,
                                 throttled, absent, destination_id, sent_hash, n)
       where g.outbox_id <> all (coalesce(v_late, '{}') || coalesce(v_busy, '{}'))
    )
    select s.delivered, s.retried, s.released, s.failed, v_late || s.late, s.given_up, v_busy || s.busy
      into delivered, retried, released, failed, late, given_up, busy
      from (
      select array_agg(claim_id order by n) a1, array_agg(lane_id order by n) a2, array_agg(seq order by n) a3, array_agg(outbox_id order by n) a4,
             array_agg(attempt_no order by n) a5, array_agg(latency_ms order by n) a6, array_agg(code order by n) a7,
             array_agg(reference order by n) a8, array_agg(outcome order by n) a9, array_agg(message order by n) a10,
             array_agg(after_ms order by n) a11, array_agg(throttled order by n) a12, array_agg(absent order by n) a13,
             array_agg(destination_id order by n) a14, array_agg(sent_hash order by n) a15
        from kept having count(*) > 0) k
     cross join lateral outbox.settle(p_stream_id, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14,
       (select jsonb_agg(c) from jsonb_array_elements(p_captures) c where (c ->> 'id')::uuid <> all (coalesce(v_late, '{}') || coalesce(v_busy, '{}'))), a15) s;
    if not found then
      -- All of them were late or busy.
      select 0, 0, 0, 0, v_late, v_busy into delivered, retried, released, failed, late, busy;
    end if;
    return;
  end if;

  delivered := cardinality(p_outbox_ids) - v_undelivered;
  retried := 0;
  released := 0;
  failed := 0;
  if v_stream.ordered then
    perform outbox.settle_lanes(v_stream, v_lanes, p_claim_ids, p_lane_ids, p_seqs, p_outbox_ids, p_attempt_nos, p_latencies_ms, p_codes, p_references, p_outcomes, p_sent_hashes);
    if p_captures is not null then
      perform outbox.store_captures(p_captures);
    end if;
    if v_undelivered > 0 then
      select e.retried, e.released, e.failed, e.given_up into retried, released, failed, given_up
        from outbox.settle_lane_exceptions(v_stream, p_claim_ids, p_lane_ids, p_seqs, p_outbox_ids, p_attempt_nos, p_latencies_ms,
                                           p_codes, p_outcomes, p_messages, p_after_ms, p_absent, p_sent_hashes) e;
    end if;
  else
    perform outbox.settle_rows(v_stream, p_claim_ids, p_outbox_ids, p_attempt_nos, p_latencies_ms, p_codes, p_references, p_outcomes, p_sent_hashes);
    if v_undelivered > 0 then
      select e.retried, e.released, e.failed, e.given_up into retried, released, failed, given_up
        from outbox.settle_row_exceptions(v_stream, p_claim_ids, p_outbox_ids, p_attempt_nos, p_latencies_ms, p_codes, p_outcomes,
                                          p_messages, p_after_ms, p_absent, p_sent_hashes) e;
    end if;
  end if;
  if p_destination_ids is not null then
    perform outbox.note_destinations(p_destination_ids, p_outcomes, p_codes, p_after_ms, p_throttled);
  end if;
end
$$;
comment on function outbox.settle(smallint, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[], text[],
                                  bigint[], boolean[], boolean[], integer[], jsonb, bytea[])
  is 'Records outcomes of claimed rows and moves their lanes on; counts its lines, names rows that were late, given up, or must wait. Nullable: late, given_up, busy.';
