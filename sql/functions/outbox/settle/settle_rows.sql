-- The delivered part of a settle on a stream without order. The rows left the pending table when they were claimed, and no lane records
-- that they were delivered: where the stream is followed, layers above are notified.
create or replace function outbox.settle_rows(p_stream outbox.streams, p_outcomes outbox.row_outcome[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_count integer;
begin
  insert into outbox.attempts
    (outbox_id, attempt_no, class_id, stream_id, state, claim_id, recorded_at, latency_ms, rail_code, rail_reference, sent_hash)
  select o.outbox_id, o.attempt_no + 1, p_stream.class_id, p_stream.stream_id, 'DISPATCHED', o.claim_id, v_now, o.latency_ms, o.code,
         o.reference, o.sent_hash
    from unnest(p_outcomes) o
   where o.kind is null or o.kind = 'delivered';
  get diagnostics v_count = row_count;
  perform outbox.close_rows(array_agg(o.claim_id))
     from unnest(p_outcomes) o where o.kind is null or o.kind = 'delivered'
   having count(*) > 0;
  if p_stream.followed and v_count > 0 then
    perform outbox.tell_finished(
      array(select o.outbox_id from unnest(p_outcomes) o where o.kind is null or o.kind = 'delivered'), true, v_now);
  end if;
end
$$;
comment on function outbox.settle_rows(outbox.streams, outbox.row_outcome[]) is 'Records delivered rows of streams without order.';
