-- The delivered part of a settle on an ordered stream: lines, finished rows, and lanes that are through. A lane whose run is
-- not through yet stays leased and starts later.
--
-- Finished rows are deleted by range. A row that was redriven while its lane was in flight may stand inside that range
-- without having been sent; it must stay, so such lanes delete number by number. Results that leave out a row before
-- them are refused: deleting by range would lose it.
create or replace function outbox.settle_lanes(
  p_stream outbox.streams, p_claim_ids bigint[], p_lane_ids bigint[], p_seqs bigint[], p_outbox_ids uuid[], p_attempt_nos integer[],
  p_latencies_ms integer[], p_codes text[], p_references text[], p_outcomes text[]
) returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_lanes bigint[];
  v_to_seqs bigint[];
  v_done_lanes bigint[];
  v_done_seqs bigint[];
  v_delivered bigint;
  v_gone bigint;
begin
  insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, claim_id, latency_ms, rail_code, rail_reference)
  select g.outbox_id, g.attempt_no + 1, p_stream.class_id, p_stream.stream_id, 'DISPATCHED', g.claim_id, g.latency_ms, g.code, g.reference
    from unnest(p_claim_ids, p_outbox_ids, p_attempt_nos, p_latencies_ms, p_codes, p_references, p_outcomes)
         g(claim_id, outbox_id, attempt_no, latency_ms, code, reference, outcome)
   where g.outcome is null or g.outcome = 'delivered';

  with lane as materialized (
    select h.lane_id, h.head_seq, h.claimed_to, h.rewind_to, g.to_seq, g.whole, g.delivered
      from (select g.lane_id, count(*) filter (where g.outcome is null or g.outcome = 'delivered') as delivered,
                   max(g.seq) filter (where g.outcome is null or g.outcome = 'delivered') as to_seq,
                   bool_and(g.outcome is null or g.outcome = 'delivered') as whole
              from unnest(p_lane_ids, p_seqs, p_outcomes) g(lane_id, seq, outcome) group by g.lane_id) g
      join outbox.heads h on h.lane_id = g.lane_id
     where g.to_seq is not null
  ), gone as (
    delete from outbox.pending p using lane l
     where p.lane_id = l.lane_id and p.seq between l.head_seq and l.to_seq
       and (l.rewind_to is null or exists (select from unnest(p_lane_ids, p_seqs) g(lane_id, seq) where g.lane_id = p.lane_id and g.seq = p.seq))
    returning 1
  )
  select array_agg(l.lane_id) filter (where not (l.whole and l.to_seq >= l.claimed_to)),
         array_agg(l.to_seq + 1) filter (where not (l.whole and l.to_seq >= l.claimed_to)),
         array_agg(l.lane_id) filter (where l.whole and l.to_seq >= l.claimed_to),
         array_agg(l.to_seq + 1) filter (where l.whole and l.to_seq >= l.claimed_to),
         sum(l.delivered), (select count(*) from gone)
    into v_lanes, v_to_seqs, v_done_lanes, v_done_seqs, v_delivered, v_gone
    from lane l;
  if v_delivered <> v_gone then
    raise exception 'results of % delivered rows would finish % rows', v_delivered, v_gone using errcode = 'HR003',
      hint = 'Results of a lane begin with its first row that is not settled yet, and leave none out. Nothing was changed.';
  end if;

  if v_lanes is not null then
    update outbox.heads h set head_seq = o.seq, delivered_to = greatest(h.delivered_to, o.seq - 1)
      from unnest(v_lanes, v_to_seqs) o(lane_id, seq) where h.lane_id = o.lane_id;
  end if;
  if v_done_lanes is not null then
    perform outbox.close_lanes(v_done_lanes);
    perform outbox.advance_lanes(v_done_lanes, v_done_seqs, true);
  end if;
end
$$;
comment on function outbox.settle_lanes(outbox.streams, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[])
  is 'Records delivered rows of ordered lanes.';
