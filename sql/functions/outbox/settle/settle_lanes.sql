-- The delivered part of a settle on an ordered stream: lines, finished rows, and lanes whose run is complete. A lane whose run is not
-- complete yet stays leased and starts later.
--
-- Finished rows are deleted by range. That range may include a row that was redriven while its lane was in flight, and has not been sent;
-- it must stay, so such lanes delete number by number. Outcomes that leave out a row before them are refused: deleting by range would lose
-- it.
--
-- All of them get the same time, so that a lane's last delivery is the one in the archive.
create or replace function outbox.settle_lanes(
  p_stream outbox.streams, p_lanes outbox.fenced_lane[], p_outcomes outbox.row_outcome[]
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_rewound boolean;
  v_delivered bigint;
  v_gone bigint;
begin
  insert into outbox.attempts
    (outbox_id, attempt_no, class_id, stream_id, state, claim_id, recorded_at, latency_ms, rail_code, rail_reference, sent_hash)
  select o.outbox_id, o.attempt_no + 1, p_stream.class_id, p_stream.stream_id, 'DISPATCHED', o.claim_id, v_now, o.latency_ms, o.code,
         o.reference, o.sent_hash
    from unnest(p_outcomes) o
   where o.kind is null or o.kind = 'delivered';
  get diagnostics v_delivered = row_count;

  select bool_or(l.rewind_to is not null) into v_rewound from unnest(p_lanes) l;
  if v_rewound then
    delete from outbox.pending p
     using unnest(p_outcomes) o
     where p.lane_id = o.lane_id and p.seq = o.seq and (o.kind is null or o.kind = 'delivered');
  else
    delete from outbox.pending p using unnest(p_lanes) l where p.lane_id = l.lane_id and p.seq between l.head_seq and l.to_seq;
  end if;
  get diagnostics v_gone = row_count;
  if v_delivered <> v_gone then
    perform headroom.fail('invalid_input', format('Outcomes of %s delivered rows would finish %s rows.', v_delivered, v_gone), null,
      'Outcomes of a lane begin with its first row that is not settled yet, and leave none out. Nothing was changed.');
  end if;

  update outbox.heads h
     set head_seq = l.to_seq + 1, delivered_to = greatest(h.delivered_to, l.to_seq), delivered_at = greatest(h.delivered_at, v_now)
    from unnest(p_lanes) l
   where h.ctid = l.place and l.to_seq is not null and not (l.whole and l.to_seq >= l.claimed_to);
  perform outbox.close_rows(array_agg(l.claim_id)),
          outbox.advance_lanes(array_agg(l.lane_id), array_agg(l.to_seq + 1), v_now, array_agg(l.place))
     from unnest(p_lanes) l
    where l.whole and l.to_seq >= l.claimed_to
   having count(*) > 0;
end
$$;
comment on function outbox.settle_lanes(outbox.streams, outbox.fenced_lane[], outbox.row_outcome[])
  is 'Records delivered rows of ordered lanes.';
