-- The delivered part of a settle on a stream without order. The rows left the pending table when they were claimed.
create or replace function outbox.settle_rows(
  p_stream outbox.streams, p_claim_ids bigint[], p_outbox_ids uuid[], p_attempt_nos integer[],
  p_latencies_ms integer[], p_codes text[], p_references text[], p_outcomes text[], p_sent_hashes bytea[]
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, claim_id, latency_ms, rail_code, rail_reference, sent_hash)
  select g.outbox_id, g.attempt_no + 1, p_stream.class_id, p_stream.stream_id, 'DISPATCHED', g.claim_id, g.latency_ms, g.code, g.reference, g.sent_hash
    from unnest(p_claim_ids, p_outbox_ids, p_attempt_nos, p_latencies_ms, p_codes, p_references, p_outcomes, p_sent_hashes)
         g(claim_id, outbox_id, attempt_no, latency_ms, code, reference, outcome, sent_hash)
   where g.outcome is null or g.outcome = 'delivered';
  perform outbox.close_rows(array_agg(g.claim_id))
     from unnest(p_claim_ids, p_outcomes) g(claim_id, outcome) where g.outcome is null or g.outcome = 'delivered'
   having count(*) > 0;
end
$$;
comment on function outbox.settle_rows(outbox.streams, bigint[], uuid[], integer[], integer[], text[], text[], text[], bytea[])
  is 'Records delivered rows of streams without order.';
